/*
 * test_patience.c - clients that take their time: how long each phase of a connection may last.
 * The clock does not matter here: http_server_tick() is told what time it is.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"

static void assert_patience(struct peer *peer, int seconds)
{
    world_later(seconds - 1);
    world_settle();
    ck_assert_msg(!peer->is_over, "it was closed before %d s were over", seconds);
    world_later(seconds + 1);
    world_hear_end(peer);
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}

START_TEST(a_client_that_says_nothing_is_closed_after_10_s)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    while (http_server_connections(world.server) == 0)
        world_step();
    assert_patience(peer, 10);
}
END_TEST

START_TEST(a_head_has_10_s_however_often_something_comes)
{
    static const char head[] = "GET /none HTTP/1.1\r\nHost: a\r\nX-Long: aaaaaaaaaaaaaaaa";

    world_open();
    struct peer *peer = world_connect(NULL);

    for (size_t i = 0; i < sizeof head - 1; i++) {
        world_say_bytes(peer, head + i, 1);
        world_settle();
    }
    assert_patience(peer, 10);
}
END_TEST

START_TEST(a_connection_may_be_idle_for_60_s)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/none"));
    world_hear(peer, "HTTP/1.1 204 ");
    world_settle();
    assert_patience(peer, 60);
}
END_TEST

START_TEST(a_later_head_has_10_s_from_its_first_line_on)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/none"));
    world_hear(peer, "HTTP/1.1 204 ");
    world_say(peer, "GET /none HTTP/1.1\r\nHost: ");
    world_settle();
    assert_patience(peer, 10);
}
END_TEST

START_TEST(a_body_has_30_s_and_one_more_for_each_64_KiB)
{
    static char bytes[200 * 1024];

    world.body_max = 1000000;
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, POST("/echo"));
    world_say_bytes(peer, bytes, sizeof bytes);
    while (http_server_memory(world.server) < sizeof bytes)
        world_step();
    assert_patience(peer, 33);
}
END_TEST

START_TEST(a_refused_body_has_no_more_time)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, "POST /secret HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    world_settle();
    ck_assert_uint_eq(world.admitted, 1);
    assert_patience(peer, 30);
}
END_TEST

START_TEST(a_handler_has_all_the_time_it_needs)
{
    const struct http_response response = {.status = 204};

    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    while (!world.held)
        world_step();
    world_later(100000);
    world_settle();
    http_answer(world.held, &response);
    world_hear(peer, "HTTP/1.1 204 ");
}
END_TEST

/* Longer than any socket's buffers. */
static void answer_16_MiB(void)
{
    const size_t size = (size_t)16 * 1024 * 1024;
    const struct http_response response = {
        .status = 200, .body_is = HTTP_TAKEN, .body = {calloc(1, size), size}};

    while (!world.held)
        world_step();
    http_answer(world.held, &response);
    world_settle();
    ck_assert_uint_eq(http_server_memory(world.server), size);
}

START_TEST(a_client_that_reads_nothing_has_the_time_of_its_answer)
{
    world_open();
    struct peer *peer = world_connect_deaf();

    world_say(peer, GET("/hold"));
    answer_16_MiB();
    world_later(30 + 256 - 1);
    world_settle();
    ck_assert_uint_eq(http_server_connections(world.server), 1);
    world_later(30 + 256 + 1);
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

START_TEST(the_timer_is_the_servers_own)
{
    world.options.limits.head = USEC_PER_MSEC;
    world_open();
    struct peer *peer = world_connect(NULL);

    world_hear_end(peer);
}
END_TEST

Suite *http_patience_suite(void)
{
    Suite *suite = suite_create("http/patience");
    TCase *patience = tcase_create("patience");

    tcase_add_checked_fixture(patience, world_setup, world_teardown);
    tcase_add_test(patience, a_client_that_says_nothing_is_closed_after_10_s);
    tcase_add_test(patience, a_head_has_10_s_however_often_something_comes);
    tcase_add_test(patience, a_connection_may_be_idle_for_60_s);
    tcase_add_test(patience, a_later_head_has_10_s_from_its_first_line_on);
    tcase_add_test(patience, a_body_has_30_s_and_one_more_for_each_64_KiB);
    tcase_add_test(patience, a_refused_body_has_no_more_time);
    tcase_add_test(patience, a_handler_has_all_the_time_it_needs);
    tcase_add_test(patience, a_client_that_reads_nothing_has_the_time_of_its_answer);
    tcase_add_test(patience, the_timer_is_the_servers_own);
    suite_add_tcase(suite, patience);
    return suite;
}
