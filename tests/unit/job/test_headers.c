/*
 * test_headers.c - what may be sent along with a job, and what a trace is called in it.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "job/headers.h"
#include "suites.h"

#include <check.h>
#include <string.h>

#define ALLOWED    "use a JSON object of at most 8192 bytes, or leave them out"
#define NOT_OBJECT "headers are not a JSON object: " ALLOWED

static const struct {
    const char *rule, *headers, *complaint;
} rows[] = {
    {"none", NULL, NULL},
    {"an object", "{\"a\":{\"b\":[1]}}", NULL},
    {"space around it, and nothing in it", " \n{ } ", NULL},
    {"a name twice", "{\"a\":1,\"a\":2}", NULL},
    {"an array", "[]", NOT_OBJECT},
    {"text", "\"a\"", NOT_OBJECT},
    {"half of it", "{\"a\":", NOT_OBJECT},
    {"two of them", "{}{}", NOT_OBJECT},
    {"nothing", "", NOT_OBJECT},
};

START_TEST(headers_are_an_object)
{
    struct error err = {0};
    const bool ok = headers_check(rows[_i].headers, &err);

    ck_assert_msg(ok == !rows[_i].complaint, "%s", rows[_i].rule);
    ck_assert_str_eq(err.text, rows[_i].complaint ? rows[_i].complaint : "");
}
END_TEST

START_TEST(headers_have_a_limit)
{
    char text[HEADERS_MAX + 2];
    struct error err = {0};

    memset(text, ' ', sizeof text);
    text[0] = '{';
    text[1] = '}';
    text[HEADERS_MAX] = '\0';
    ck_assert(headers_check(text, &err));
    text[HEADERS_MAX] = ' ';
    text[HEADERS_MAX + 1] = '\0';
    ck_assert(!headers_check(text, &err));
    ck_assert_str_eq(err.text, "headers are 8193 bytes long: " ALLOWED);
}
END_TEST

static const struct {
    const char *rule, *headers, *value;
} members[] = {
    {"as it was written", "{\"traceparent\":\"00-ab\"}", "00-ab"},
    {"decoded", "{\"trace\\u0070arent\":\"\\u00e9\"}", "\xc3\xa9"},
    {"among others", "{\"a\":[{\"traceparent\":\"no\"}],\"traceparent\":\"yes\",\"b\":{}}", "yes"},
    {"the last counts", "{\"traceparent\":\"1\",\"traceparent\":\"2\"}", "2"},
    {"text only", "{\"traceparent\":{\"a\":\"b\"}}", NULL},
    {"a number is none", "{\"traceparent\":7}", NULL},
    {"what no C string can hold is none", "{\"traceparent\":\"a\\u0000b\"}", NULL},
    {"one level deep", "{\"a\":{\"traceparent\":\"no\"}}", NULL},
    {"a value of that name", "{\"a\":\"traceparent\"}", NULL},
    {"no headers", NULL, NULL},
    {"damaged ones", "{\"traceparent\":\"1\"", NULL},
};

START_TEST(a_member_is_found_by_its_name)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const char *value = headers_get(members[_i].headers, "traceparent", &arena);

    ck_assert_msg(text_equal(value, members[_i].value), "%s: %s", members[_i].rule, value);
}
END_TEST

Suite *headers_suite(void)
{
    Suite *suite = suite_create("job/headers");
    TCase *headers = pure_case("headers");

    tcase_add_loop_test(headers, headers_are_an_object, 0, COUNT_OF(rows));
    tcase_add_test(headers, headers_have_a_limit);
    tcase_add_loop_test(headers, a_member_is_found_by_its_name, 0, COUNT_OF(members));
    suite_add_tcase(suite, headers);
    return suite;
}
