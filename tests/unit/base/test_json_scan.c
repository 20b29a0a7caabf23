/*
 * test_json_scan.c - what is JSON and what is not, and where the fault is.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "cases.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

static const struct {
    const char *rule;
    struct bytes text;
} accepted[] = {
    {"null", BYTES("null")},
    {"true", BYTES("true")},
    {"false", BYTES("false")},
    {"an empty string", BYTES("\"\"")},
    {"zero", BYTES("0")},
    {"minus zero", BYTES("-0")},
    {"an integer", BYTES("1234567890")},
    {"an integer of forty digits", BYTES("1234567890123456789012345678901234567890")},
    {"a fraction", BYTES("-0.25")},
    {"a fraction that starts with zeros", BYTES("1.001")},
    {"an exponent", BYTES("1e5")},
    {"a capital exponent", BYTES("1E5")},
    {"a signed exponent", BYTES("1.5e+05")},
    {"a negative exponent", BYTES("0e-0")},
    {"a number too large for a double", BYTES("1e999")},
    {"an empty object", BYTES("{}")},
    {"an empty array", BYTES("[]")},
    {"space in an empty object and array", BYTES("[{ } , [\n]]")},
    {"members", BYTES("{\"a\":1,\"b\":[true,null],\"c\":{\"d\":\"e\"}}")},
    {"an empty name", BYTES("{\"\":0}")},
    {"values after nested ones", BYTES("[[[]],{\"a\":{}},0]")},
    {"all kinds of space at all places", BYTES(" \t\r\n{ \"a\"\n:\t[ 1 ,\r2 ] , \"b\" : 3 } \n")},
    {"every short escape", BYTES("\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t\"")},
    {"an escaped character in either case", BYTES("\"\\u00e9\\u00E9\\uabcd\\uFFFF\"")},
    {"an escaped NUL", BYTES("\"\\u0000\"")},
    {"the neighbours of the surrogates", BYTES("\"\\ud7ff\\ue000\"")},
    {"the first surrogate pair", BYTES("\"\\ud800\\udc00\"")},
    {"the last surrogate pair", BYTES("\"\\uDBFF\\uDFFF\"")},
    {"DEL is no control character", BYTES("\"\x7f\"")},
    {"characters of two, three and four bytes", BYTES("\"é€\xF0\x9F\x9A\xA2\"")},
    {"characters in names", BYTES("{\"é\":1}")},
    {"a name twice, which only split refuses", BYTES("{\"a\":1,\"a\":2}")},
};

START_TEST(json_is_accepted)
{
    struct error err = {0};

    ck_assert_msg(json_check(accepted[_i].text, &err), "%s: %s", accepted[_i].rule, err.text);
}
END_TEST

static const struct {
    const char *rule;
    struct bytes text;
    const char *error;
} refused[] = {
    /* clang-format off */
    {"nothing", BYTES(""), "line 1, column 1: expected a value"},
    {"absent bytes", {NULL, 0}, "line 1, column 1: expected a value"},
    {"only space", BYTES(" \n "), "line 2, column 2: expected a value"},
    {"a missing value", BYTES("{\"abcd\": }"), "line 1, column 10: expected a value"},
    {"a word", BYTES("nul"), "line 1, column 1: expected a value"},
    {"a word in capitals", BYTES("True"), "line 1, column 1: expected a value"},
    {"a word that goes on", BYTES("nullx"), "line 1, column 5: expected nothing more"},
    {"NaN", BYTES("[NaN]"), "line 1, column 2: expected a value"},
    {"two values", BYTES("1 2"), "line 1, column 3: expected nothing more"},
    {"a NUL after the value", BYTES("1\0"), "line 1, column 2: expected nothing more"},
    {"a byte order mark", BYTES("\xEF\xBB\xBF{}"), "line 1, column 1: expected a value"},
    {"other kinds of space", BYTES("\f1"), "line 1, column 1: expected a value"},
    {"a comment", BYTES("/**/1"), "line 1, column 1: expected a value"},

    {"a plus", BYTES("+1"), "line 1, column 1: expected a value"},
    {"only a minus", BYTES("-"), "line 1, column 2: expected a digit"},
    {"two minuses", BYTES("--1"), "line 1, column 2: expected a digit"},
    {"a leading zero", BYTES("[01]"), "line 1, column 2: a number does not start with 0"},
    {"a leading zero after a minus", BYTES("-00"), "line 1, column 2: a number does not start with 0"},
    {"a point at the start", BYTES(".5"), "line 1, column 1: expected a value"},
    {"a point at the end", BYTES("5."), "line 1, column 3: expected a digit"},
    {"a point before the exponent", BYTES("5.e1"), "line 1, column 3: expected a digit"},
    {"an empty exponent", BYTES("5e"), "line 1, column 3: expected a digit"},
    {"a signed empty exponent", BYTES("5e+"), "line 1, column 4: expected a digit"},
    {"a fraction in the exponent", BYTES("5e1.5"), "line 1, column 4: expected nothing more"},
    {"a hexadecimal number", BYTES("0x10"), "line 1, column 2: expected nothing more"},

    {"a string without an end", BYTES("\"abc"), "line 1, column 5: the string has no end"},
    {"a string that ends in its escape", BYTES("\"abc\\\""), "line 1, column 7: the string has no end"},
    {"single quotes", BYTES("'a'"), "line 1, column 1: expected a value"},
    {"a line break in a string", BYTES("\"a\nb\""), "line 1, column 3: control character in a string"},
    {"a NUL in a string", BYTES("\"a\0b\""), "line 1, column 3: control character in a string"},
    {"the last control character", BYTES("\"\x1f\""), "line 1, column 2: control character in a string"},
    {"an unknown escape", BYTES("\"\\x41\""), "line 1, column 3: no such escape"},
    {"an escaped line break", BYTES("\"\\\n\""), "line 1, column 3: no such escape"},
    {"an escape without its letter", BYTES("\"\\"), "line 1, column 3: no such escape"},
    {"three digits", BYTES("\"\\u123\""), "line 1, column 7: expected four hexadecimal digits"},
    {"a letter after F", BYTES("\"\\u123g\""), "line 1, column 7: expected four hexadecimal digits"},
    {"digits cut off", BYTES("\"\\u12"), "line 1, column 6: expected four hexadecimal digits"},
    {"a first half alone", BYTES("\"\\ud800\""), "line 1, column 4: half a surrogate pair"},
    {"the last first half alone", BYTES("\"\\udbff \\udc00\""), "line 1, column 4: half a surrogate pair"},
    {"a second half alone", BYTES("\"\\udc00\""), "line 1, column 4: half a surrogate pair"},
    {"the last second half alone", BYTES("\"\\udfff\""), "line 1, column 4: half a surrogate pair"},
    {"two second halves", BYTES("\"\\udc00\\udc00\""), "line 1, column 4: half a surrogate pair"},
    {"two first halves", BYTES("\"\\ud800\\ud800\""), "line 1, column 4: half a surrogate pair"},
    {"a first half and a character", BYTES("\"\\ud800\\u0041\""), "line 1, column 4: half a surrogate pair"},
    {"a first half and the character after", BYTES("\"\\ud800\\ue000\""), "line 1, column 4: half a surrogate pair"},
    {"a second half cut off", BYTES("\"\\ud800\\udc0\""), "line 1, column 13: expected four hexadecimal digits"},
    {"a first half at the end", BYTES("\"\\ud800\\u"), "line 1, column 4: half a surrogate pair"},

    {"a byte that is no UTF-8", BYTES("\"a\xff\""), "line 1, column 3: not UTF-8"},
    {"the middle of a character", BYTES("\"\x80\""), "line 1, column 2: not UTF-8"},
    {"half a character", BYTES("\"\xC3\""), "line 1, column 2: not UTF-8"},
    {"a character cut off by the end", BYTES("\"\xE2\x82"), "line 1, column 2: not UTF-8"},
    {"a surrogate in UTF-8", BYTES("\"\xED\xA0\x80\""), "line 1, column 2: not UTF-8"},
    {"a longer form than needed", BYTES("\"\xC0\x80\""), "line 1, column 2: not UTF-8"},
    {"columns are characters", BYTES("\"é€\xF0\x9F\x9A\xA2\" x"), "line 1, column 7: expected nothing more"},

    {"an open object", BYTES("{"), "line 1, column 2: expected a name in quotes"},
    {"an open array", BYTES("["), "line 1, column 2: expected a value"},
    {"a closed object that was not open", BYTES("}"), "line 1, column 1: expected a value"},
    {"brackets that do not match", BYTES("[1}"), "line 1, column 3: expected ',' or ']'"},
    {"braces that do not match", BYTES("{\"a\":1]"), "line 1, column 7: expected ',' or '}'"},
    {"inner brackets that do not match", BYTES("[[1},2]"), "line 1, column 4: expected ',' or ']'"},
    {"one bracket too many", BYTES("[1]]"), "line 1, column 4: expected nothing more"},
    {"a comma before the end of an array", BYTES("[1,]"), "line 1, column 4: expected a value"},
    {"a comma before the end of an object", BYTES("{\"a\":1,}"), "line 1, column 8: expected a name in quotes"},
    {"only a comma", BYTES("[,]"), "line 1, column 2: expected a value"},
    {"no comma", BYTES("[1 2]"), "line 1, column 4: expected ',' or ']'"},
    {"a comma at the top", BYTES("1,2"), "line 1, column 2: expected nothing more"},
    {"no colon", BYTES("{\"a\" 1}"), "line 1, column 6: expected ':'"},
    {"two colons", BYTES("{\"a\"::1}"), "line 1, column 6: expected a value"},
    {"a colon in an array", BYTES("[\"a\":1]"), "line 1, column 5: expected ',' or ']'"},
    {"a name without quotes", BYTES("{a:1}"), "line 1, column 2: expected a name in quotes"},
    {"a number as a name", BYTES("{1:1}"), "line 1, column 2: expected a name in quotes"},
    {"a second name without quotes", BYTES("{\"a\":[],b:1}"), "line 1, column 9: expected a name in quotes"},
    {"a member without a value", BYTES("{\"a\"}"), "line 1, column 5: expected ':'"},
    {"a fault on the third line", BYTES("{\n \"a\": 1,\n  b: 2}"), "line 3, column 3: expected a name in quotes"},
    /* clang-format on */
};

START_TEST(what_is_not_json_is_refused_with_its_place)
{
    struct error err = {0};

    ck_assert_msg(!json_check(refused[_i].text, &err), "%s", refused[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, refused[_i].error) == 0, "%s: %s, not %s", refused[_i].rule,
                  refused[_i].error, err.text);
}
END_TEST

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* So many arrays and objects in turn inside each other. */
static void nest(struct buffer *text, int depth)
{
    for (int i = 0; i < depth; i++)
        buffer_text(text, i % 2 == 0 ? "[" : "{\"a\":");
    buffer_text(text, "0");
    for (int i = depth - 1; i >= 0; i--)
        buffer_text(text, i % 2 == 0 ? "]" : "}");
}

START_TEST(depth_is_limited)
{
    CLEANUP(buffer_done) struct buffer allowed = BUFFER(10000);
    CLEANUP(buffer_done) struct buffer too_deep = BUFFER(10000);
    struct error err = {0};

    nest(&allowed, JSON_DEPTH_MAX);
    nest(&too_deep, JSON_DEPTH_MAX + 1);
    ck_assert_msg(json_check(bytes_of(buffer_str(&allowed)), &err), "%s", err.text);
    ck_assert(!json_check(bytes_of(buffer_str(&too_deep)), &err));
    ck_assert_ptr_nonnull(strstr(err.text, "nested too deeply"));
}
END_TEST

START_TEST(depth_counts_what_is_open_not_what_was)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(10000);
    struct error err = {0};

    buffer_text(&text, "[0");
    for (int i = 0; i < 3 * JSON_DEPTH_MAX; i++)
        buffer_text(&text, ",[],{}");
    buffer_text(&text, "]");
    ck_assert_msg(json_check(bytes_of(buffer_str(&text)), &err), "%s", err.text);
}
END_TEST

/* In memory of exactly that length, so that the sanitizer sees a byte too far. */
START_TEST(every_beginning_of_an_object_is_refused)
{
    static const char text[] =
        "{\"a\\n\\ud83d\\udea2é€\": [true, false, null, -1.5e+3, {\"b\": \"\"}], \"c\": 0 }";
    const size_t length = strlen(text);

    for (size_t i = 0; i <= length; i++) {
        AUTO_FREE unsigned char *part = malloc(i > 0 ? i : 1);
        struct error err = {0};

        ck_assert_ptr_nonnull(part);
        memcpy(part, text, i);
        ck_assert_msg(json_check((struct bytes){part, i}, &err) == (i == length), "%zu bytes", i);
    }
}
END_TEST

TCase *json_scan_case(void)
{
    TCase *scan = pure_case("scan");

    tcase_add_loop_test(scan, json_is_accepted, 0, COUNT_OF(accepted));
    tcase_add_loop_test(scan, what_is_not_json_is_refused_with_its_place, 0, COUNT_OF(refused));
    tcase_add_test(scan, depth_is_limited);
    tcase_add_test(scan, depth_counts_what_is_open_not_what_was);
    tcase_add_test(scan, every_beginning_of_an_object_is_refused);
    return scan;
}
