/*
 * test_exchange.c - requests and answers over a real socket: bodies, refusals, requests that are
 * held, clients that leave.
 */
#include "base/clock.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define GET(path)          "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path, length) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: " length "\r\n\r\n"
#define CHUNKED(path)      "POST " path " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

static void answer(struct http_request *request, const char *text)
{
    struct http_response response = {.status = 200};

    response.body = (struct bytes){(const unsigned char *)text, strlen(text)};
    http_answer(request, &response);
}

static void wait_until_held(void)
{
    while (!world.held)
        world_step();
}

/* So many bytes, in pieces that a socket takes. */
static void say_many(struct peer *peer, size_t length)
{
    static char bytes[64 * 1024];

    memset(bytes, 'b', sizeof bytes);
    for (; length > sizeof bytes; length -= sizeof bytes)
        world_say_bytes(peer, bytes, sizeof bytes);
    world_say_bytes(peer, bytes, length);
}

START_TEST(a_request_is_answered)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, POST("/echo", "5") "hello");
    world_hear(peer, "\r\n\r\nhello");
    ck_assert_int_eq(strncmp(peer->heard, "HTTP/1.1 200 OK\r\n", 17), 0);
    ck_assert_ptr_nonnull(strstr(peer->heard, "Content-Length: 5\r\n"));
    ck_assert(!peer->is_over);
    world_settle();
    ck_assert_int_eq(world.sent, 1);
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

START_TEST(a_connection_is_used_again)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    for (int i = 0; i < 3; i++) {
        world_say(peer, POST("/echo", "5") "hello");
        world_hear(peer, "\r\n\r\nhello");
        world_forget(peer);
    }
    ck_assert_uint_eq(http_server_connections(world.server), 1);
}
END_TEST

START_TEST(requests_that_come_at_once_are_answered_in_order)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold") POST("/echo", "5") "hello" GET("/x?last"));
    wait_until_held();
    ck_assert_uint_eq(world.handled, 1);
    answer(world.held, "first");
    world_hear(peer, "\r\n\r\nlast");
    ck_assert(strstr(peer->heard, "first") < strstr(peer->heard, "hello"));
    ck_assert(strstr(peer->heard, "hello") < strstr(peer->heard, "last"));
}
END_TEST

START_TEST(a_request_may_come_byte_by_byte)
{
    static const char text[] = POST("/echo", "5") "hello";

    world_open();
    struct peer *peer = world_connect(NULL);

    for (size_t i = 0; i < sizeof text - 1; i++) {
        world_say_bytes(peer, text + i, 1);
        world_settle();
    }
    world_hear(peer, "\r\n\r\nhello");
}
END_TEST

START_TEST(a_body_may_come_in_chunks)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, CHUNKED("/echo") "2;ext=1\r\nhe\r\n");
    world_settle();
    world_say(peer, "3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n");
    world_hear(peer, "\r\n\r\nhello");
    world_say(peer, GET("/x?again"));
    world_hear(peer, "\r\n\r\nagain");
}
END_TEST

START_TEST(HEAD_is_GET_without_the_body)
{
    world_open();
    world.lasting = (struct bytes){(const unsigned char *)"hello", 5};
    struct peer *peer = world_connect(NULL);

    world_say(peer, "HEAD /lasting HTTP/1.1\r\nHost: a\r\n\r\n");
    world_hear(peer, "Content-Length: 5\r\n");
    world_hear(peer, "\r\n\r\n");
    world_settle();
    ck_assert_ptr_null(strstr(peer->heard, "hello"));
    world_say(peer, GET("/lasting"));
    world_hear(peer, "\r\n\r\nhello");
    world_forget(peer);
    world_say(peer, "HEAD /method HTTP/1.1\r\nHost: a\r\n\r\n");
    world_hear(peer, "Content-Length: 3\r\n"); /* "GET" */
}
END_TEST

START_TEST(nothing_comes_with_a_204)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/none") GET("/x?a"));
    world_hear(peer, "\r\n\r\na");
    ck_assert_int_eq(strncmp(peer->heard, "HTTP/1.1 204 ", 13), 0);
}
END_TEST

START_TEST(a_client_that_asks_for_it_is_closed_after_its_answer)
{
    world_open();
    struct peer *peer = world_connect(NULL), *old = world_connect(NULL);

    world_say(peer, "GET /x?a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    world_hear(peer, "\r\n\r\na");
    world_hear_end(peer);
    world_say(old, "GET /x?b HTTP/1.0\r\n\r\n");
    world_hear(old, "\r\n\r\nb");
    world_hear_end(old);
    ck_assert(!peer->was_reset && !old->was_reset);
}
END_TEST

START_TEST(an_answer_may_close_the_connection)
{
    struct http_response response = {.status = 200, .close = true};

    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    wait_until_held();
    http_response_add(&response, "X-One", "1");
    http_response_add(&response, "X-Two", "2");
    http_answer(world.held, &response);
    world_hear_end(peer);
    ck_assert_ptr_nonnull(strstr(peer->heard, "Connection: close\r\n"));
    ck_assert_ptr_nonnull(strstr(peer->heard, "X-One: 1\r\n"));
    ck_assert_ptr_nonnull(strstr(peer->heard, "X-Two: 2\r\n"));
}
END_TEST

START_TEST(a_header_with_a_line_break_is_never_sent)
{
    struct http_response response = {.status = 200};

    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    wait_until_held();
    http_response_add(&response, "X-One", "1\r\nX-Two: 2");
    http_answer(world.held, &response);
    world_hear_end(peer);
    ck_assert_str_eq(peer->heard, "");
}
END_TEST

START_TEST(a_taken_body_is_freed)
{
    struct http_response response = {.status = 200, .body_is = HTTP_TAKEN};

    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    wait_until_held();
    response.body = (struct bytes){(const unsigned char *)strdup("hello"), 5};
    http_answer(world.held, &response);
    world_hear(peer, "\r\n\r\nhello");
}
END_TEST

START_TEST(a_dropped_request_is_closed_without_a_word)
{
    world_open();
    struct peer *now = world_connect(NULL), *later = world_connect(NULL);

    world_say(now, GET("/drop"));
    world_hear_end(now);
    world_say(later, GET("/hold"));
    wait_until_held();
    http_drop(world.held);
    world_hear_end(later);
    ck_assert_str_eq(now->heard, "");
    ck_assert_str_eq(later->heard, "");
}
END_TEST

START_TEST(it_works_over_a_unix_socket)
{
    world_open_unix();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/peer"));
    world_hear(peer, "\r\n\r\nunix");
}
END_TEST

/* What is refused before the body */

START_TEST(a_refused_client_may_ask_again_on_its_connection)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/secret"));
    world_hear(peer, "\r\n\r\nwho?");
    world_forget(peer);
    world_say(peer, POST("/secret", "5") "hello");
    world_hear(peer, "\r\n\r\nwho?");
    world_say(peer, GET("/x?a"));
    world_hear(peer, "\r\n\r\na");
    ck_assert_uint_eq(world.admitted, 3);
    ck_assert_uint_eq(world.handled, 1);
}
END_TEST

START_TEST(a_refused_client_is_not_asked_for_a_long_body)
{
    world.body_max = 1024 * 1024;
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, POST("/secret", "65537"));
    world_hear(peer, "\r\n\r\nwho?");
    world_hear_end(peer);
}
END_TEST

/* A socket that is closed with something unread resets the connection. */
START_TEST(a_refused_client_that_goes_on_sending_hears_why)
{
    world_open();
    struct peer *peer = world_connect_deaf();

    world_say(peer, POST("/secret", "4000000"));
    say_many(peer, 4000000);
    while (http_server_connections(world.server) > 0)
        world_step();
    world_listen(peer);
    world_hear_end(peer);
    ck_assert(!peer->was_reset && !peer->was_cut_short);
    ck_assert_ptr_nonnull(strstr(peer->heard, "\r\n\r\nwho?"));
}
END_TEST

START_TEST(a_client_that_waits_is_told_to_go_on)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                    "Expect: 100-continue\r\n\r\n");
    world_hear(peer, "HTTP/1.1 100 Continue\r\n\r\n");
    world_say(peer, "hello");
    world_hear(peer, "\r\n\r\nhello");
}
END_TEST

START_TEST(a_client_that_waits_and_is_refused_is_not_told_to_go_on)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, "POST /secret HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                    "Expect: 100-continue\r\n\r\n");
    world_hear(peer, "\r\n\r\nwho?");
    world_hear_end(peer);
    ck_assert_int_eq(strncmp(peer->heard, "HTTP/1.1 401 ", 13), 0);
}
END_TEST

START_TEST(a_body_that_is_too_long_is_refused_by_its_head)
{
    world.body_max = 5;
    world_open();
    struct peer *fits = world_connect(NULL), *longer = world_connect(NULL),
                *longest = world_connect(NULL);

    world_say(fits, POST("/echo", "5") "hello");
    world_hear(fits, "\r\n\r\nhello");
    world_say(longer, POST("/echo", "6"));
    world_say(longer, "hello!" GET("/x?a"));
    world_hear(longer, "HTTP/1.1 413 ");
    world_hear(longer, "\r\n\r\na");
    world_say(longest, POST("/echo", "1000000000000"));
    world_hear(longest, "HTTP/1.1 413 ");
    world_hear_end(longest);
    ck_assert_uint_eq(world.handled, 2);
}
END_TEST

START_TEST(a_body_in_chunks_that_gets_too_long_is_refused_at_its_end)
{
    world.body_max = 5;
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, CHUNKED("/echo") "5\r\nhello\r\n1\r\n!\r\n");
    world_settle();
    ck_assert_str_eq(peer->heard, "");
    ck_assert_uint_eq(http_server_memory(world.server), 0);
    world_say(peer, "0\r\n\r\n" GET("/x?a"));
    world_hear(peer, "HTTP/1.1 413 ");
    world_hear(peer, "\r\n\r\na");
    ck_assert_uint_eq(world.handled, 1);
}
END_TEST

START_TEST(a_body_in_chunks_without_end_is_cut_off)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, CHUNKED("/echo") "10000000\r\n");
    say_many(peer, 2 * 1024 * 1024);
    world_hear_end(peer);
    ck_assert_uint_eq(world.handled, 0);
}
END_TEST

/* The library asks to be run again at once, for ever, and gets nowhere. */
START_TEST(an_extension_without_end_does_not_keep_us_busy)
{
    char extension[32 * 1024];
    unsigned steps = 0;

    world_open();
    struct peer *peer = world_connect_deaf();

    memset(extension, 'x', sizeof extension);
    world_say(peer, CHUNKED("/echo") "5;");
    world_say_bytes(peer, extension, sizeof extension);
    for (const usec_t start = clock_boot(); clock_boot() < start + SECONDS(1) / 5; steps++)
        world_step();
    ck_assert_uint_lt(steps, 60);
    world_later(31);
    while (http_server_connections(world.server) > 0)
        world_step();
}
END_TEST

/* Memory */

START_TEST(bodies_that_do_not_fit_the_memory_are_refused)
{
    world.options.memory = 256 * 1024;
    world.body_max = 1024 * 1024;
    world_open();
    struct peer *first = world_connect(NULL), *second = world_connect(NULL),
                *third = world_connect(NULL);

    world_say(first, POST("/hold", "200000"));
    say_many(first, 200000);
    wait_until_held();
    ck_assert_uint_ge(http_server_memory(world.server), 200000);
    world_say(second, POST("/echo", "100000"));
    world_hear(second, "HTTP/1.1 503 ");
    world_hear_end(second);
    world_say(third, CHUNKED("/echo") "186a0\r\n");
    say_many(third, 100000);
    world_say(third, "\r\n0\r\n\r\n");
    world_hear(third, "HTTP/1.1 503 ");
    answer(world.held, "fine");
    world_hear(first, "\r\n\r\nfine");
    ck_assert_uint_eq(http_server_memory(world.server), 0);
    world_say(third, POST("/x?a", "100000"));
    say_many(third, 100000);
    world_hear(third, "\r\n\r\na");
}
END_TEST

START_TEST(answers_that_do_not_fit_the_memory_become_503)
{
    static char bytes[64 * 1024];
    struct http_response response = {.status = 200, .body = {(unsigned char *)bytes, sizeof bytes}};

    world.options.memory = 32 * 1024;
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    wait_until_held();
    http_answer(world.held, &response);
    world_hear(peer, "HTTP/1.1 503 ");
    world_forget(peer);
    world_say(peer, GET("/x?short"));
    world_hear(peer, "\r\n\r\nshort");
    world_forget(peer);
    world.lasting = response.body;
    world_say(peer, GET("/lasting"));
    world_hear(peer, "HTTP/1.1 200 ");
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

START_TEST(an_answer_counts_until_it_was_sent)
{
    const size_t size = (size_t)16 * 1024 * 1024;
    struct http_response response = {
        .status = 200, .body_is = HTTP_TAKEN, .body = {calloc(1, size), size}};

    world_open();
    struct peer *peer = world_connect_deaf();

    world_say(peer, GET("/hold"));
    wait_until_held();
    http_answer(world.held, &response);
    world_settle();
    ck_assert_uint_eq(http_server_memory(world.server), size);
    world_leave(peer);
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

/* Clients that leave */

static void note_left(void *context)
{
    ck_assert_ptr_eq(context, &world);
    world.left++;
}

static void watch_held(void)
{
    wait_until_held();
    ck_assert(http_request_watch(world.held, note_left, &world, &world.err));
    ck_assert(!http_request_has_left(world.held));
}

START_TEST(a_client_that_leaves_while_it_is_held_is_noticed)
{
    struct http_response response = {.status = 200};

    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    watch_held();
    world_leave(peer);
    while (world.left == 0)
        world_step();
    ck_assert(http_request_has_left(world.held));
    ck_assert_str_eq(world.held->path, "/hold");
    http_answer(world.held, &response);
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(world.left, 1);
}
END_TEST

START_TEST(a_client_that_sends_more_and_leaves_is_noticed)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    watch_held();
    world_say(peer, GET("/x?more"));
    world_settle();
    ck_assert_uint_eq(world.left, 0);
    ck_assert(!http_request_has_left(world.held));
    world_leave(peer);
    while (world.left == 0)
        world_step();
    http_drop(world.held);
    while (http_server_connections(world.server) > 0)
        world_step();
}
END_TEST

static void note_unsent(void *context, bool was_sent)
{
    ck_assert_ptr_eq(context, &world);
    world.sent = was_sent;
}

START_TEST(an_answer_to_a_client_that_left_was_not_sent)
{
    const struct http_response response = {.status = 200, .sent = note_unsent, .context = &world};

    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    wait_until_held();
    world_leave(peer);
    http_answer(world.held, &response);
    while (world.sent < 0)
        world_step();
    ck_assert_int_eq(world.sent, 0);
}
END_TEST

START_TEST(a_client_that_leaves_in_its_body_is_forgotten)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, POST("/echo", "1000") "hello");
    world_settle();
    ck_assert_uint_eq(http_server_connections(world.server), 1);
    world_leave(peer);
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(world.admitted, 1);
    ck_assert_uint_eq(world.handled, 0);
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

Suite *http_exchange_suite(void)
{
    Suite *suite = suite_create("http/exchange");
    TCase *exchange = tcase_create("exchange");

    tcase_add_checked_fixture(exchange, world_setup, world_teardown);
    tcase_add_test(exchange, a_request_is_answered);
    tcase_add_test(exchange, a_connection_is_used_again);
    tcase_add_test(exchange, requests_that_come_at_once_are_answered_in_order);
    tcase_add_test(exchange, a_request_may_come_byte_by_byte);
    tcase_add_test(exchange, a_body_may_come_in_chunks);
    tcase_add_test(exchange, HEAD_is_GET_without_the_body);
    tcase_add_test(exchange, nothing_comes_with_a_204);
    tcase_add_test(exchange, a_client_that_asks_for_it_is_closed_after_its_answer);
    tcase_add_test(exchange, an_answer_may_close_the_connection);
    tcase_add_test(exchange, a_header_with_a_line_break_is_never_sent);
    tcase_add_test(exchange, a_taken_body_is_freed);
    tcase_add_test(exchange, a_dropped_request_is_closed_without_a_word);
    tcase_add_test(exchange, it_works_over_a_unix_socket);
    tcase_add_test(exchange, a_refused_client_may_ask_again_on_its_connection);
    tcase_add_test(exchange, a_refused_client_is_not_asked_for_a_long_body);
    tcase_add_test(exchange, a_refused_client_that_goes_on_sending_hears_why);
    tcase_add_test(exchange, a_client_that_waits_is_told_to_go_on);
    tcase_add_test(exchange, a_client_that_waits_and_is_refused_is_not_told_to_go_on);
    tcase_add_test(exchange, a_body_that_is_too_long_is_refused_by_its_head);
    tcase_add_test(exchange, a_body_in_chunks_that_gets_too_long_is_refused_at_its_end);
    tcase_add_test(exchange, a_body_in_chunks_without_end_is_cut_off);
    tcase_add_test(exchange, an_extension_without_end_does_not_keep_us_busy);
    tcase_add_test(exchange, bodies_that_do_not_fit_the_memory_are_refused);
    tcase_add_test(exchange, answers_that_do_not_fit_the_memory_become_503);
    tcase_add_test(exchange, an_answer_counts_until_it_was_sent);
    tcase_add_test(exchange, a_client_that_leaves_while_it_is_held_is_noticed);
    tcase_add_test(exchange, a_client_that_sends_more_and_leaves_is_noticed);
    tcase_add_test(exchange, an_answer_to_a_client_that_left_was_not_sent);
    tcase_add_test(exchange, a_client_that_leaves_in_its_body_is_forgotten);
    suite_add_tcase(suite, exchange);
    return suite;
}
