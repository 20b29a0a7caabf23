/*
 * test_exchange.c - requests and answers over a real socket, and what is refused.
 */
#include "world.h"

#include <string.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

START_TEST(a_request_is_answered)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    world_hear(peer, "\r\n\r\nhello");
    ck_assert_int_eq(strncmp(peer->heard, "HTTP/1.1 200 OK\r\n", 17), 0);
    ck_assert_ptr_nonnull(strstr(peer->heard, "Content-Length: 5\r\n"));
    ck_assert(!peer->is_over);
    world_settle();
    ck_assert_int_eq(world.sent, 1);
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

Suite *http_exchange_suite(void)
{
    Suite *suite = suite_create("http/exchange");
    TCase *answers = tcase_create("answers");

    tcase_add_checked_fixture(answers, world_setup, world_teardown);
    tcase_add_test(answers, a_request_is_answered);
    suite_add_tcase(suite, answers);
    return suite;
}
