/*
 * test_server.c - how many may come, who has to go for them, and how a server ends.
 */
#include "world.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static void ask(struct peer *peer)
{
    world_say(peer, GET("/none"));
    world_hear(peer, "HTTP/1.1 204 ");
    world_forget(peer);
}

static void wait_for(unsigned connections)
{
    while (http_server_connections(world.server) != connections)
        world_step();
}

static void expect_headers(const char *request, const char *answer)
{
    struct peer *peer = world_connect(NULL);

    world_say(peer, request);
    world_hear(peer, answer);
    world_hear(peer, "\r\n\r\n");
    ck_assert_msg(strstr(peer->heard, "X-Always: yes\r\n"), "%s", peer->heard);
    ck_assert_msg(strstr(peer->heard, "X-Too: this\r\n"), "%s", peer->heard);
}

START_TEST(every_answer_has_the_headers_of_all)
{
    static const struct http_header always[] = {{"X-Always", "yes"}, {"X-Too", "this"}};

    world.options.headers = always;
    world.options.header_count = COUNT_OF(always);
    world.options.connections = 1;
    world_open();
    expect_headers(GET("/none"), "HTTP/1.1 204 ");
    expect_headers(GET("/secret"), "HTTP/1.1 401 ");
    expect_headers("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ");
    expect_headers(GET("/stream"), "HTTP/1.1 200 ");
    expect_headers(GET("/none"), "HTTP/1.1 503 "); /* nobody is idle */
}
END_TEST

START_TEST(an_answer_may_have_another_header_of_that_name)
{
    static const struct http_header always[] = {{"X-Always", "yes"}, {"X-Too", "this"}};
    struct http_response response = {.status = 204};

    http_response_add(&response, "x-always", "no");
    world.options.headers = always;
    world.options.header_count = COUNT_OF(always);
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, GET("/hold"));
    while (!world.held)
        world_step();
    http_answer(world.held, &response);
    world_hear(peer, "\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(peer->heard, "x-always: no\r\n"));
    ck_assert_ptr_null(strstr(peer->heard, "X-Always"));
    ck_assert_ptr_nonnull(strstr(peer->heard, "X-Too: this\r\n"));
}
END_TEST

START_TEST(when_it_is_full_the_longest_idle_one_goes)
{
    world.options.connections = 3;
    world_open();
    struct peer *first = world_connect(NULL), *second = world_connect(NULL),
                *third = world_connect(NULL);

    ask(first);
    ask(second);
    ask(third);
    ask(first); /* it is not the longest idle one any more */
    struct peer *newcomer = world_connect(NULL);

    ask(newcomer);
    world_hear_end(second);
    ask(first);
    ask(third);
    wait_for(3);
}
END_TEST

START_TEST(whoever_is_at_work_does_not_go)
{
    const struct http_response response = {.status = 204};

    world.options.connections = 2;
    world_open();
    struct peer *working = world_connect(NULL), *streaming = world_connect(NULL);

    world_say(working, GET("/hold"));
    world_say(streaming, GET("/stream"));
    while (!world.held || world.room == 0)
        world_step();
    struct peer *newcomer = world_connect(NULL);

    world_say(newcomer, GET("/none"));
    world_hear_end(newcomer);
    ck_assert_int_eq(strncmp(newcomer->heard, "HTTP/1.1 503 ", 13), 0);
    ck_assert_ptr_nonnull(strstr(newcomer->heard, "Retry-After: 1\r\n"));
    http_answer(world.held, &response);
    world_hear(working, "HTTP/1.1 204 ");
    ask(world_connect(NULL)); /* instead of the one that is idle now */
    world_hear_end(working);
}
END_TEST

START_TEST(somebody_who_says_nothing_makes_room_too)
{
    world.options.connections = 10;
    world_open();
    for (int i = 0; i < 50; i++)
        world_connect(NULL);
    wait_for(10);
    ask(world_connect(NULL));
    ck_assert_uint_le(http_server_connections(world.server), 11);
}
END_TEST

START_TEST(loopback_is_not_counted_by_address)
{
    world.options.connections_per_address = 2;
    world_open();
    for (int i = 0; i < 5; i++)
        ask(world_connect("127.0.0.1"));
    ck_assert_uint_eq(http_server_connections(world.server), 5);
}
END_TEST

START_TEST(many_idle_clients_are_served)
{
    enum { CLIENTS = 200 };
    struct peer *clients[CLIENTS];

    world_open();
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = world_connect(NULL);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < CLIENTS; i++)
            ask(clients[i]);
    }
    ck_assert_uint_eq(http_server_connections(world.server), CLIENTS);
    ck_assert_uint_eq(world.handled, 2 * CLIENTS);
}
END_TEST

/* The next descriptor that there would be is one too many. */
static void forbid_descriptors(rlim_t *before)
{
    struct rlimit limit;
    const int next = dup(0);

    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    *before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)next;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(without_descriptors_the_longest_idle_one_goes)
{
    rlim_t before;

    world_open();
    struct peer *idle = world_connect(NULL);

    ask(idle);
    struct peer *newcomer = world_connect(NULL);

    forbid_descriptors(&before);
    world_hear_end(idle);
    ask(newcomer);
    const struct rlimit limit = {before, before};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
END_TEST

START_TEST(a_retiring_server_answers_what_it_has_and_closes_the_rest)
{
    const struct http_response response = {.status = 204};

    world_open();
    struct peer *idle = world_connect(NULL), *working = world_connect(NULL),
                *streaming = world_connect(NULL);

    ask(idle);
    world_say(working, GET("/hold"));
    world_say(streaming, GET("/stream"));
    while (!world.held || world.room == 0)
        world_step();
    http_server_retire(world.server);
    world_hear_end(idle);
    world_connect(NULL);
    world_settle();
    ck_assert_uint_eq(http_server_connections(world.server), 2);
    http_answer(world.held, &response);
    world_hear_end(working);
    ck_assert_ptr_nonnull(strstr(working->heard, "Connection: close\r\n"));
    ck_assert_uint_eq(world.retired, 0);
    http_stream_end(world.stream);
    world.stream = NULL;
    world_hear_end(streaming);
    while (world.retired == 0)
        world_step();
    world_settle();
    ck_assert_uint_eq(world.retired, 1);
}
END_TEST

START_TEST(a_server_without_clients_retires_at_once)
{
    world_open();
    http_server_retire(world.server);
    while (world.retired == 0)
        world_step();
}
END_TEST

static void close_server(void *context)
{
    ck_assert_ptr_eq(context, &world);
    http_server_close(&world.server);
}

START_TEST(a_server_may_be_closed_when_it_has_retired)
{
    world.options.handler.retired = close_server;
    world_open();
    struct peer *peer = world_connect(NULL);

    ask(peer);
    http_server_retire(world.server);
    while (world.server)
        world_step();
    world_hear_end(peer);
}
END_TEST

static unsigned descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

START_TEST(closing_cuts_off_everybody_and_leaves_nothing)
{
    const unsigned before = descriptors();

    world_open();
    struct peer *idle = world_connect(NULL), *held = world_connect(NULL),
                *sending = world_connect(NULL), *streaming = world_connect(NULL);

    ask(idle);
    world_say(held, GET("/hold"));
    world_say(sending, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhello");
    world_say(streaming, GET("/stream"));
    while (!world.held || world.room == 0 || http_server_memory(world.server) == 0)
        world_step();
    http_server_close(&world.server);
    world_hear_end(idle);
    world_hear_end(held);
    world_hear_end(sending);
    world_hear_end(streaming);
    ck_assert_uint_eq(world.gone, 1);
    ck_assert_uint_eq(descriptors(), before + 1 + 4); /* the listener and the clients */
    http_server_close(&world.server);
}
END_TEST

Suite *http_server_suite(void)
{
    Suite *suite = suite_create("http/server");
    TCase *server = tcase_create("server");

    tcase_add_checked_fixture(server, world_setup, world_teardown);
    tcase_add_test(server, every_answer_has_the_headers_of_all);
    tcase_add_test(server, an_answer_may_have_another_header_of_that_name);
    tcase_add_test(server, when_it_is_full_the_longest_idle_one_goes);
    tcase_add_test(server, whoever_is_at_work_does_not_go);
    tcase_add_test(server, somebody_who_says_nothing_makes_room_too);
    tcase_add_test(server, loopback_is_not_counted_by_address);
    tcase_add_test(server, many_idle_clients_are_served);
    tcase_add_test(server, without_descriptors_the_longest_idle_one_goes);
    tcase_add_test(server, a_retiring_server_answers_what_it_has_and_closes_the_rest);
    tcase_add_test(server, a_server_without_clients_retires_at_once);
    tcase_add_test(server, a_server_may_be_closed_when_it_has_retired);
    tcase_add_test(server, closing_cuts_off_everybody_and_leaves_nothing);
    suite_add_tcase(suite, server);
    return suite;
}
