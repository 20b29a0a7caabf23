/*
 * test_pure.c - paths, queries, heads, deadlines and crowds: what needs no socket.
 */
#include "base/arena.h"
#include "http/crowd.h"
#include "http/escape.h"
#include "http/head.h"
#include "http/path.h"
#include "http/query.h"
#include "world.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *path;
    const char *segments; /* joined by "|"; NULL: refused */
} paths[] = {
    {"/", ""},
    {"/a", "a"},
    {"/a/b/c", "a|b|c"},
    {"/a/", "a|"},
    {"//", "|"},
    {"/a%2Fb/c", "a/b|c"},
    {"/a%2fb%23%25", "a/b#%"},
    {"/a+b", "a+b"},
    {"/%C3%A4", "\303\244"},
    {"/..", ".."},
    {"/1/2/3/4/5/6/7/8", "1|2|3|4|5|6|7|8"},
    {"/1/2/3/4/5/6/7/8/9", NULL},
    {"", NULL},
    {"a", NULL},
    {"/a%00", NULL},
    {"/%", NULL},
    {"/%4", NULL},
    {"/%4/1", NULL},
    {"/%4g", NULL},
    {"/%g4", NULL},
};

START_TEST(a_path_is_split_and_then_unescaped)
{
    struct http_path path = {0};
    char joined[HTTP_PATH_LENGTH] = "";

    ck_assert_msg(http_path_split(paths[_i].path, &path) == !!paths[_i].segments, "%s",
                  paths[_i].path);
    if (!paths[_i].segments)
        return;
    for (size_t i = 0; i < path.count; i++) {
        const size_t length = strlen(joined);

        snprintf(joined + length, sizeof joined - length, "%s%s", i > 0 ? "|" : "",
                 path.segments[i]);
    }
    ck_assert_msg(strcmp(joined, paths[_i].segments) == 0, "%s: %s", paths[_i].path, joined);
    ck_assert_uint_eq(path.count == 0, strcmp(paths[_i].path, "/") == 0);
}
END_TEST

START_TEST(a_path_longer_than_any_is_refused)
{
    char text[HTTP_PATH_LENGTH + 1];
    struct http_path path;

    memset(text, 'a', sizeof text);
    text[0] = '/';
    text[HTTP_PATH_LENGTH] = '\0';
    ck_assert(!http_path_split(text, &path));
    text[HTTP_PATH_LENGTH - 1] = '\0';
    ck_assert(http_path_split(text, &path));
    ck_assert_uint_eq(strlen(path.segments[0]), HTTP_PATH_LENGTH - 2);
}
END_TEST

static const struct {
    const char *query;
    const char *parameters; /* "name=value|", one after the other; NULL: refused */
} queries[] = {
    {"", ""},
    {"a=1", "a=1|"},
    {"a=1&b=2", "a=1|b=2|"},
    {"a", "a=|"},
    {"a=", "a=|"},
    {"=1", "=1|"},
    {"a=b=c", "a=b=c|"},
    {"&&a=1&&", "a=1|"},
    {"a=x+y%2B", "a=x y+|"},
    {"a%3Db=%26", "a=b=&|"},
    {"since=2026-01-01T00%3A00%3A00Z", "since=2026-01-01T00:00:00Z|"},
    {"a=1&a=2", NULL},
    {"a=1&%61=2", NULL},
    {"a=%00", NULL},
    {"a%00=1", NULL},
    {"a=%", NULL},
    {"a=%4&b=1", NULL},
};

START_TEST(a_query_is_split_and_then_unescaped)
{
    struct arena arena = {0};
    struct http_query query;
    struct error err = {0};
    char joined[256] = "";

    ck_assert_msg(http_query_parse(queries[_i].query, &arena, &query, &err) ==
                      !!queries[_i].parameters,
                  "%s", queries[_i].query);
    for (size_t i = 0; queries[_i].parameters && i < query.count; i++) {
        const struct http_parameter *parameter = &query.parameters[i];
        const size_t length = strlen(joined);

        snprintf(joined + length, sizeof joined - length, "%s=%s|", parameter->name,
                 parameter->value);
        ck_assert_ptr_eq(http_query_value(&query, parameter->name), parameter->value);
    }
    if (queries[_i].parameters)
        ck_assert_str_eq(joined, queries[_i].parameters);
    else
        ck_assert_int_eq(err.code, TH_E_INVALID);
    arena_done(&arena);
}
END_TEST

START_TEST(a_query_has_32_parameters_at_most)
{
    struct arena arena = {0};
    struct http_query query;
    struct error err = {0};
    char text[256] = "";

    for (int i = 0; i < 32; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d&", i);
    ck_assert(http_query_parse(text, &arena, &query, &err));
    ck_assert_uint_eq(query.count, 32);
    ck_assert_ptr_null(http_query_value(&query, "32"));
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d&", 32);
    ck_assert(!http_query_parse(text, &arena, &query, &err));
    ck_assert_str_eq(err.text, "the query has more than 32 parameters");
    arena_done(&arena);
}
END_TEST

START_TEST(a_body_is_as_long_as_its_head_says)
{
    struct http_head head = {"POST", "/", "HTTP/1.1", {{"Host", "a"}, {"content-length", "12"}}, 2};

    ck_assert_ptr_null(http_head_defect(&head));
    ck_assert_uint_eq(http_head_body_length(&head), 12);
    head.headers[1].value = "18446744073709551615";
    ck_assert_uint_eq(http_head_body_length(&head), HTTP_LENGTH_UNKNOWN - 1);
    head.headers[1] = (struct http_header){"Transfer-Encoding", "Chunked"};
    ck_assert_ptr_null(http_head_defect(&head));
    ck_assert_uint_eq(http_head_body_length(&head), HTTP_LENGTH_UNKNOWN);
    head.count = 1;
    ck_assert_uint_eq(http_head_body_length(&head), 0);
}
END_TEST

START_TEST(a_client_may_wait_to_be_asked_for_its_body)
{
    struct http_head head = {
        "POST", "/", "HTTP/1.1", {{"Host", "a"}, {"expect", "100-Continue"}}, 2};

    ck_assert(http_head_expects_continue(&head));
    head.count = 1;
    ck_assert(!http_head_expects_continue(&head));
}
END_TEST

#define KiB 1024

static const struct {
    const char *rule;
    enum http_phase phase;
    bytes_t moved;
    usec_t deadline; /* since 1000 s */
} deadlines[] = {
    {"the first head has 10 s", HTTP_FRESH, 0, SECONDS(1010)},
    {"the rest of any head too", HTTP_HEAD, 0, SECONDS(1010)},
    {"idle is allowed for 60 s", HTTP_IDLE, 0, SECONDS(1060)},
    {"a body has 30 s", HTTP_BODY, 0, SECONDS(1030)},
    {"and no more for little", HTTP_BODY, 64 * KiB - 1, SECONDS(1030)},
    {"but a second for each 64 KiB that came", HTTP_BODY, 64 * KiB, SECONDS(1031)},
    {"however many", HTTP_BODY, (bytes_t)16 * KiB *KiB, SECONDS(1030 + 256)},
    {"an answer has the same", HTTP_SENDING, 200 * KiB, SECONDS(1033)},
    {"a handler takes as long as it takes", HTTP_HELD, 0, USEC_MAX},
    {"a stream with nothing unsent lasts", HTTP_STREAMING, 0, USEC_MAX},
    {"with something unsent it is idle", HTTP_STREAMING, 1, SECONDS(1060)},
    {"what is closing is over", HTTP_CLOSING, 0, USEC_MAX},
};

START_TEST(a_phase_has_its_deadline)
{
    const struct http_limits limits = HTTP_LIMITS;
    const usec_t deadline =
        http_deadline(&limits, deadlines[_i].phase, SECONDS(1000), deadlines[_i].moved);

    ck_assert_msg(deadline == deadlines[_i].deadline, "%s, not %" PRId64, deadlines[_i].rule,
                  deadline);
}
END_TEST

static const struct {
    const char *text;
    const char *counted; /* NULL: not */
} addresses[] = {
    {"192.0.2.1", "::ffff:192.0.2.1"},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
    {"2001:db8::1", "2001:db8::1"},
    {"127.0.0.1", NULL},
    {"127.1.2.3", NULL},
    {"::1", NULL},
    {"::ffff:127.0.0.1", NULL},
};

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *narrow = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *wide = (struct sockaddr_in6 *)&storage;

    if (inet_pton(AF_INET, text, &narrow->sin_addr) == 1) {
        narrow->sin_family = AF_INET;
        return storage;
    }
    ck_assert_int_eq(inet_pton(AF_INET6, text, &wide->sin6_addr), 1);
    wide->sin6_family = AF_INET6;
    return storage;
}

START_TEST(addresses_are_counted_but_for_loopback)
{
    const struct sockaddr_storage peer = address_of(addresses[_i].text);
    struct in6_addr address, expected;

    ck_assert_msg(http_crowd_address(&peer, &address) == !!addresses[_i].counted, "%s",
                  addresses[_i].text);
    if (!addresses[_i].counted)
        return;
    ck_assert_int_eq(inet_pton(AF_INET6, addresses[_i].counted, &expected), 1);
    ck_assert_mem_eq(&address, &expected, sizeof address);
}
END_TEST

START_TEST(a_unix_socket_is_not_counted)
{
    const struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    struct in6_addr address;

    ck_assert(!http_crowd_address(&peer, &address));
}
END_TEST

static struct http_connection stranger(const char *from, usec_t since)
{
    struct http_connection connection = {.since = since, .peer = address_of(from)};

    connection.is_counted = http_crowd_address(&connection.peer, &connection.address);
    return connection;
}

START_TEST(a_crowd_knows_who_is_idle_the_longest)
{
    static struct http_crowd crowd;
    struct http_connection a = stranger("192.0.2.1", 1), b = stranger("192.0.2.2", 2),
                           c = stranger("192.0.2.1", 3), newcomer = stranger("192.0.2.1", 4);
    struct http_connection *kin = NULL;

    http_crowd_add(&crowd, &a);
    http_crowd_add(&crowd, &b);
    http_crowd_add(&crowd, &c);
    ck_assert_ptr_eq(http_crowd_idlest(&crowd), &a);
    ck_assert_uint_eq(http_crowd_kin(&crowd, &newcomer, &kin), 2);
    ck_assert_ptr_eq(kin, &a);
    http_crowd_move(&crowd, &a, HTTP_HEAD);
    ck_assert_ptr_eq(http_crowd_idlest(&crowd), &b);
    ck_assert_uint_eq(http_crowd_kin(&crowd, &newcomer, &kin), 2);
    ck_assert_ptr_eq(kin, &c);
    http_crowd_move(&crowd, &c, HTTP_CLOSING);
    ck_assert_uint_eq(http_crowd_kin(&crowd, &newcomer, &kin), 1);
    ck_assert_ptr_null(kin);
    ck_assert_uint_eq(crowd.count, 3);
    ck_assert_uint_eq(crowd.closing, 1);
    a.since = 5;
    http_crowd_move(&crowd, &a, HTTP_IDLE);
    ck_assert_ptr_eq(http_crowd_idlest(&crowd), &b);
    http_crowd_remove(&crowd, &b);
    ck_assert_ptr_eq(http_crowd_idlest(&crowd), &a);
    http_crowd_remove(&crowd, &c);
    http_crowd_remove(&crowd, &a);
    ck_assert_ptr_null(http_crowd_idlest(&crowd));
    ck_assert_uint_eq(crowd.count + crowd.closing, 0);
    ck_assert_uint_eq(http_crowd_kin(&crowd, &newcomer, &kin), 0);
}
END_TEST

START_TEST(a_newcomer_takes_the_place_of_an_idle_one)
{
    static struct http_crowd crowd;
    struct http_connection a = stranger("192.0.2.1", 1), b = stranger("192.0.2.2", 2),
                           c = stranger("192.0.2.2", 3), local = stranger("127.0.0.1", 4),
                           kin = stranger("192.0.2.2", 5);
    struct http_connection *leaver = NULL;

    http_crowd_add(&crowd, &a);
    http_crowd_add(&crowd, &b);
    http_crowd_add(&crowd, &c);
    ck_assert(http_crowd_room(&crowd, &kin, 4, 3, &leaver) && !leaver);
    ck_assert(http_crowd_room(&crowd, &kin, 3, 3, &leaver) && leaver == &a);
    ck_assert(http_crowd_room(&crowd, &kin, 4, 2, &leaver) && leaver == &b);
    ck_assert(http_crowd_room(&crowd, &local, 4, 0, &leaver) && !leaver);
    http_crowd_move(&crowd, &b, HTTP_HELD);
    ck_assert(http_crowd_room(&crowd, &kin, 4, 2, &leaver) && leaver == &c);
    http_crowd_move(&crowd, &c, HTTP_STREAMING);
    ck_assert(!http_crowd_room(&crowd, &kin, 4, 2, &leaver));
    ck_assert(http_crowd_room(&crowd, &local, 3, 2, &leaver) && leaver == &a);
    http_crowd_move(&crowd, &a, HTTP_CLOSING);
    ck_assert(http_crowd_room(&crowd, &local, 3, 2, &leaver) && !leaver);
    ck_assert(!http_crowd_room(&crowd, &local, 2, 2, &leaver));
}
END_TEST

Suite *http_pure_suite(void)
{
    Suite *suite = suite_create("http/pure");
    TCase *pure = pure_case("pure");

    tcase_add_loop_test(pure, a_path_is_split_and_then_unescaped, 0, COUNT_OF(paths));
    tcase_add_test(pure, a_path_longer_than_any_is_refused);
    tcase_add_loop_test(pure, a_query_is_split_and_then_unescaped, 0, COUNT_OF(queries));
    tcase_add_test(pure, a_query_has_32_parameters_at_most);
    tcase_add_test(pure, a_body_is_as_long_as_its_head_says);
    tcase_add_test(pure, a_client_may_wait_to_be_asked_for_its_body);
    tcase_add_loop_test(pure, a_phase_has_its_deadline, 0, COUNT_OF(deadlines));
    tcase_add_loop_test(pure, addresses_are_counted_but_for_loopback, 0, COUNT_OF(addresses));
    tcase_add_test(pure, a_unix_socket_is_not_counted);
    tcase_add_test(pure, a_crowd_knows_who_is_idle_the_longest);
    tcase_add_test(pure, a_newcomer_takes_the_place_of_an_idle_one);
    suite_add_tcase(suite, pure);
    return suite;
}
