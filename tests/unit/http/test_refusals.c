/*
 * test_refusals.c - heads with more than one reading, byte by byte over a real socket.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#define RAW(text) text, sizeof(text) - 1

/* A second request that must never be seen, for those who get it past the first. */
#define SMUGGLED "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

static const struct {
    const char *rule;
    const char *bytes;
    size_t length;
    const char *answer;
} refused[] = {
    {"a length beside chunks",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\nTransfer-Encoding: "
         "chunked\r\n\r\n"
         "0\r\n\r\n" SMUGGLED),
     "400"},
    {"the same the other way round",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
         "0\r\n\r\n" SMUGGLED),
     "400"},
    {"two lengths",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: "
         "44\r\n\r\n" SMUGGLED),
     "400"},
    {"the same length twice",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: "
         "0\r\n\r\n" SMUGGLED),
     "400"},
    {"two hosts", RAW("GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" SMUGGLED), "400"},
    {"no host", RAW("GET /echo HTTP/1.1\r\nX: a\r\n\r\n" SMUGGLED), "400"},
    {"two tokens",
     RAW("GET /echo HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nauthorization: b\r\n\r\n" SMUGGLED),
     "400"},
    {"a bare CR in a value", RAW("GET /echo HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n" SMUGGLED),
     "400"},
    {"a bare CR as the end of a line", RAW("GET /echo HTTP/1.1\r\nHost: a\rX: b\r\n\r\n" SMUGGLED),
     "400"},
    {"a bare LF", RAW("GET /echo HTTP/1.1\r\nHost: a\nX: b\r\n\r\n" SMUGGLED), "400"},
    {"a bare LF after the first line", RAW("GET /echo HTTP/1.1\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a bare LF at the end", RAW("GET /echo HTTP/1.1\r\nHost: a\r\n\n" SMUGGLED), "400"},
    {"a folded line", RAW("GET /echo HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n" SMUGGLED), "400"},
    {"a folded line that hides a length",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nX: a\r\n\tContent-Length: 44\r\n\r\n" SMUGGLED), "400"},
    {"a NUL in a value", RAW("GET /echo HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n" SMUGGLED), "400"},
    {"a NUL after a value", RAW("GET /echo HTTP/1.1\r\nHost: a\0\r\n\r\n" SMUGGLED), "400"},
    {"a NUL before a value", RAW("GET /echo HTTP/1.1\r\nHost: a\r\nX:\0b\r\n\r\n" SMUGGLED), "400"},
    {"a NUL in a name", RAW("GET /echo HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n" SMUGGLED), "400"},
    {"a NUL before a name, which ends the head for some",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\n\0Content-Length: 44\r\n\r\n" SMUGGLED), "400"},
    {"a NUL in the path", RAW("GET /echo\0/b HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a NUL in the query", RAW("GET /echo?a=b\0c HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a NUL in the method", RAW("GE\0T /echo HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"an escaped NUL in the path", RAW("GET /echo%00 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"an escaped NUL in the query", RAW("GET /echo?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED),
     "400"},
    {"half an escape", RAW("GET /echo%4 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a space before the colon",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 44\r\n\r\n" SMUGGLED), "400"},
    {"no name", RAW("GET /echo HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n" SMUGGLED), "400"},
    {"a control character in a value",
     RAW("GET /echo HTTP/1.1\r\nHost: a\r\nX: \001\r\n\r\n" SMUGGLED), "400"},
    {"two spaces before the target", RAW("GET  /echo HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a space in the target", RAW("GET /echo /b HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a target with a host", RAW("GET http://b/echo HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"a target that is a host", RAW("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"chunks of an unknown kind",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, "
         "chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
     "400"},
    {"chunks in HTTP/1.0",
     RAW("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED), "400"},
    {"a length with a sign",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello" SMUGGLED), "400"},
    {"two lengths in one",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello" SMUGGLED), "400"},
    {"a length beyond numbers",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n" SMUGGLED),
     "413"},
    {"a length beyond our numbers",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n" SMUGGLED),
     "413"},
    {"no version", RAW("GET /echo\r\nHost: a\r\n\r\n" SMUGGLED), "400"},
    {"HTTP/2", RAW("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" SMUGGLED), "505"},
    {"a chunk without a size",
     RAW("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n" SMUGGLED),
     "400"},
};

START_TEST(is_refused_and_closed)
{
    world_open();
    struct peer *peer = world_connect(NULL);
    char start[32];

    world_say_bytes(peer, refused[_i].bytes, refused[_i].length);
    world_hear_end(peer);
    snprintf(start, sizeof start, "HTTP/1.1 %s ", refused[_i].answer);
    ck_assert_msg(strncmp(peer->heard, start, strlen(start)) == 0, "%s: heard %s", refused[_i].rule,
                  peer->heard);
    ck_assert_msg(strstr(peer->heard, "\r\nConnection: close\r\n"), "%s: %s", refused[_i].rule,
                  peer->heard);
    ck_assert_msg(world.handled == 0, "%s: it was handled", refused[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    const char *answer;
} taken[] = {
    {"a header without a space", "GET /header HTTP/1.1\r\nHost:a\r\nX-Test:b\r\n\r\n", "\r\n\r\nb"},
    {"tabs before a value", "GET /header HTTP/1.1\r\nHost: a\r\nX-Test:\t \tb\r\n\r\n",
     "\r\n\r\nb"},
    {"a tab in a value", "GET /header HTTP/1.1\r\nHost: a\r\nX-Test: b\tc\r\n\r\n", "\r\n\r\nb\tc"},
    {"an empty value", "GET /header HTTP/1.1\r\nHost: a\r\nX-Test:\r\n\r\n",
     "Content-Length: 0\r\n"},
    {"no such header", "GET /header HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\nnone"},
    {"UTF-8 in a value", "GET /header HTTP/1.1\r\nHost: a\r\nX-Test: \303\244\r\n\r\n",
     "\r\n\r\n\303\244"},
    {"a header twice that means nothing",
     "GET /header HTTP/1.1\r\nHost: a\r\nX-Test: 1\r\nX-Test: 2\r\n\r\n", "\r\n\r\n1"},
    {"no Host in HTTP/1.0", "GET /none HTTP/1.0\r\n\r\n", "HTTP/1.1 204 "},
    {"no header at all in HTTP/1.0", "GET /header HTTP/1.0\r\n\r\n", "\r\n\r\nnone"},
    {"an empty line before", "\r\nGET /none HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 "},
    {"escapes and an empty query", "GET /a%2Fb? HTTP/1.1\r\nHost: a\r\n\r\n",
     "Content-Length: 0\r\n"},
    {"a query as it was sent", "GET /x?a=b%26c&d=+%C3%A4&&e HTTP/1.1\r\nHost: a\r\n\r\n",
     "\r\n\r\na=b%26c&d=+%C3%A4&&e"},
    {"a question mark in the query", "GET /x?a?b HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\na?b"},
    {"cookies", "GET /header HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=\"d\"\r\nX-Test: e\r\n\r\n",
     "\r\n\r\ne"},
    {"any method that is a word", "BREW /none HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 "},
};

START_TEST(is_taken)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, taken[_i].text);
    while (!strstr(peer->heard, taken[_i].answer)) {
        ck_assert_msg(!peer->is_over, "%s: heard %s", taken[_i].rule, peer->heard);
        world_step();
    }
    ck_assert_msg(world.handled == 1, "%s: heard %s", taken[_i].rule, peer->heard);
}
END_TEST

/* A head of so many bytes. */
static void say_head(struct peer *peer, size_t length)
{
    static const char start[] = "GET /none HTTP/1.1\r\nHost: a\r\nX: ", end[] = "\r\n\r\n";
    char head[64 * 1024];

    memset(head, 'x', sizeof head);
    memcpy(head, start, sizeof start - 1);
    memcpy(head + length - (sizeof end - 1), end, sizeof end - 1);
    world_say_bytes(peer, head, length);
}

START_TEST(a_head_has_8_KiB_at_most)
{
    world_open();
    struct peer *fits = world_connect(NULL), *longer = world_connect(NULL),
                *longest = world_connect(NULL);

    say_head(fits, 8 * 1024);
    world_hear(fits, "HTTP/1.1 204 ");
    say_head(longer, 8 * 1024 + 1);
    world_hear(longer, "HTTP/1.1 431 ");
    world_hear_end(longer);
    say_head(longest, 64 * 1024);
    world_hear(longest, "HTTP/1.1 431 ");
    world_hear_end(longest);
    ck_assert_uint_eq(world.handled, 1);
}
END_TEST

START_TEST(a_head_has_100_headers_at_most)
{
    world_open();
    struct peer *fits = world_connect(NULL), *more = world_connect(NULL);

    world_say(fits, "GET /none HTTP/1.1\r\nHost: a\r\n");
    for (int i = 1; i < 100; i++)
        world_say(fits, "X: a\r\n");
    world_say(fits, "\r\n");
    world_hear(fits, "HTTP/1.1 204 ");
    world_say(more, "GET /none HTTP/1.1\r\nHost: a\r\n");
    for (int i = 1; i < 101; i++)
        world_say(more, "X: a\r\n");
    world_say(more, "\r\n");
    world_hear(more, "HTTP/1.1 431 ");
    world_hear_end(more);
}
END_TEST

/* The library copies them. */
START_TEST(cookies_may_fill_a_head)
{
    world_open();
    struct peer *peer = world_connect(NULL);
    char cookie[7 * 1024] = "Cookie: a=";

    memset(cookie + 10, 'c', sizeof cookie - 11);
    world_say(peer, "GET /none HTTP/1.1\r\nHost: a\r\n");
    world_say(peer, cookie);
    world_say(peer, "\r\n\r\n");
    world_hear(peer, "HTTP/1.1 204 ");
}
END_TEST

START_TEST(a_path_without_end_is_refused)
{
    world_open();
    struct peer *peer = world_connect(NULL);
    char path[64 * 1024];

    memset(path, 'x', sizeof path);
    world_say(peer, "GET /");
    world_say_bytes(peer, path, sizeof path);
    world_hear(peer, "HTTP/1.1 414 ");
    world_hear_end(peer);
}
END_TEST

Suite *http_refusals_suite(void)
{
    Suite *suite = suite_create("http/refusals");
    TCase *heads = tcase_create("heads");

    tcase_add_checked_fixture(heads, world_setup, world_teardown);
    tcase_add_loop_test(heads, is_refused_and_closed, 0, COUNT_OF(refused));
    tcase_add_loop_test(heads, is_taken, 0, COUNT_OF(taken));
    tcase_add_test(heads, a_head_has_8_KiB_at_most);
    tcase_add_test(heads, a_head_has_100_headers_at_most);
    tcase_add_test(heads, cookies_may_fill_a_head);
    tcase_add_test(heads, a_path_without_end_is_refused);
    suite_add_tcase(suite, heads);
    return suite;
}
