/*
 * test_json.c - JSON text: checked and taken apart.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "cases.h"
#include "suites.h"

#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static const struct {
    const char *rule;
    const char *text, *compact;
} compacted[] = {
    {"space between tokens goes", " { \"a\" : [ 1 ,\t2 ] ,\r\n\"b\" : null } ",
     "{\"a\":[1,2],\"b\":null}"},
    {"space in strings stays", "[ \" a b \" ]", "[\" a b \"]"},
    {"an escaped quote does not end a string", "[\"a\\\" b\" , \"\\\\\" , 1]",
     "[\"a\\\" b\",\"\\\\\",1]"},
    {"escapes and numbers stay as they are written",
     "[\"\\u0041\\/\", 1.00e+2, 12345678901234567890]",
     "[\"\\u0041\\/\",1.00e+2,12345678901234567890]"},
    {"a scalar", "\n42\n", "42"},
    {"text without space is copied", "{\"a\":\"é\"}", "{\"a\":\"é\"}"},
    {"text that is no JSON does no harm", "\"a\xff b",
     "\"a\xff"
     "b"},
};

START_TEST(compact_drops_the_space_between_tokens)
{
    CLEANUP(buffer_done) struct buffer compact = BUFFER(1000);

    json_add_compact(&compact, bytes_of(compacted[_i].text));
    ck_assert_msg(strcmp(buffer_str(&compact), compacted[_i].compact) == 0, "%s, not %s",
                  compacted[_i].rule, buffer_str(&compact));
}
END_TEST

START_TEST(members_come_in_order_with_their_values_as_written)
{
    CLEANUP(arena_done) struct arena arena = {0};
    static const char text[] =
        " { \"b\" : [1, 2] ,\"a\\u00e9\\n\":1.50,\"\":{\"b\":0} , \"c\":\" x \" }\n";
    static const struct {
        const char *name, *value;
    } expected[] = {{"b", "[1, 2]"}, {"aé\n", "1.50"}, {"", "{\"b\":0}"}, {"c", "\" x \""}};
    struct json_members members;
    struct error err = {0};

    ck_assert_msg(json_split_object(bytes_of(text), &arena, &members, &err), "%s", err.text);
    ck_assert_uint_eq(members.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        ck_assert_str_eq(members.items[i].name, expected[i].name);
        ck_assert_uint_eq(members.items[i].value.length, strlen(expected[i].value));
        ck_assert_mem_eq(members.items[i].value.data, expected[i].value, strlen(expected[i].value));
    }
}
END_TEST

START_TEST(an_empty_object_has_no_members)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct json_members members = {NULL, 99};
    struct error err = {0};

    ck_assert(json_split_object(bytes_of(" { } "), &arena, &members, &err));
    ck_assert_uint_eq(members.count, 0);
}
END_TEST

START_TEST(an_object_may_have_very_many_members)
{
    enum { MANY = 50000 };
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer text = BUFFER(1000000);
    struct json_members members;
    struct error err = {0};

    for (int i = 0; i < MANY; i++)
        buffer_printf(&text, "%c\"%d\":%d", i == 0 ? '{' : ',', i, i);
    buffer_text(&text, "}");
    ck_assert_msg(json_split_object(bytes_of(buffer_str(&text)), &arena, &members, &err), "%s",
                  err.text);
    ck_assert_uint_eq(members.count, MANY);
    for (int i = 0; i < MANY; i++) {
        int64_t number = -1;

        if (!json_to_int(members.items[i].value, &number) || number != i)
            ck_abort_msg("member %d", i);
    }
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    const char *error;
} unsplit[] = {
    {"an array", "[1]", "line 1, column 1: expected an object"},
    {"a scalar", " null", "line 1, column 2: expected an object"},
    {"nothing", "", "line 1, column 1: expected an object"},
    {"a name twice", "{\"a\":1,\"b\":2,\"a\":3}", "the name 'a' appears twice"},
    {"a name twice, once escaped", "{\"a\":1,\"\\u0061\":3}", "the name 'a' appears twice"},
    {"a NUL in a name", "{\"a\\u0000\":1}", "line 1, column 2: \\u0000 in a name"},
    {"a fault in a name", "{\"a\\x\":1}", "line 1, column 5: no such escape"},
    {"a fault in a value", "{\"a\":[1,]}", "line 1, column 9: expected a value"},
    {"no colon", "{\"a\"}", "line 1, column 5: expected ':'"},
    {"no end", "{\"a\":1", "line 1, column 7: expected ',' or '}'"},
    {"a comma before the end", "{\"a\":1,}", "line 1, column 8: expected a name in quotes"},
    {"another value after it", "{\"a\":1} {}", "line 1, column 9: expected nothing more"},
    {"another value after an empty one", "{} {}", "line 1, column 4: expected nothing more"},
};

START_TEST(only_an_object_with_distinct_names_is_split)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct json_members members;
    struct error err = {0};

    ck_assert_msg(!json_split_object(bytes_of(unsplit[_i].text), &arena, &members, &err), "%s",
                  unsplit[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, unsplit[_i].error) == 0, "%s: %s, not %s", unsplit[_i].rule,
                  unsplit[_i].error, err.text);
}
END_TEST

/* An object with one member, which has so many arrays inside each other. */
static void nest(struct buffer *text, int depth)
{
    buffer_text(text, "{\"a\":");
    for (int i = 0; i < depth; i++)
        buffer_char(text, '[');
    for (int i = 0; i < depth; i++)
        buffer_char(text, ']');
    buffer_char(text, '}');
}

START_TEST(depth_is_limited_inside_members_as_well)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer allowed = BUFFER(10000);
    CLEANUP(buffer_done) struct buffer too_deep = BUFFER(10000);
    struct json_members members;
    struct error err = {0};

    nest(&allowed, JSON_DEPTH_MAX - 1);
    nest(&too_deep, JSON_DEPTH_MAX);
    ck_assert(json_split_object(bytes_of(buffer_str(&allowed)), &arena, &members, &err));
    ck_assert(!json_split_object(bytes_of(buffer_str(&too_deep)), &arena, &members, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "nested too deeply"));
}
END_TEST

START_TEST(a_split_without_memory_says_so)
{
    CLEANUP(arena_done) struct arena arena = {.failed = true};
    struct json_members members;
    struct error err = {0};

    ck_assert(!json_split_object(bytes_of("{\"a\":1}"), &arena, &members, &err));
    ck_assert_int_eq(err.code, TH_E_NO_MEMORY);
}
END_TEST

static const struct {
    const char *rule;
    const char *value;
    const char *text; /* NULL: refused */
} texts[] = {
    {"a string", "\"abc\"", "abc"},
    {"an empty string", "\"\"", ""},
    {"every escape", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
    {"an escaped character", "\"\\u20ac\"", "€"},
    {"an escaped surrogate pair", "\"\\ud83d\\udea2\"", "\xF0\x9F\x9A\xA2"},
    {"UTF-8", "\"é\"", "é"},
    {"UTF-8 beside an escape", "\"é\\n\"", "é\n"},
    {"a NUL", "\"a\\u0000b\"", NULL},
    {"half a surrogate pair", "\"\\ud800\"", NULL},
    {"a number", "1", NULL},
    {"null", "null", NULL},
    {"an array", "[\"a\"]", NULL},
    {"nothing", "", NULL},
    {"a string without an end", "\"abc", NULL},
    {"two strings", "\"a\"\"b\"", NULL},
    {"only a quote", "\"", NULL},
};

START_TEST(a_string_is_decoded)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const char *text = "untouched";
    const bool decoded = json_to_text(bytes_of(texts[_i].value), &arena, &text);

    ck_assert_msg(decoded == (texts[_i].text != NULL), "%s", texts[_i].rule);
    ck_assert_str_eq(text, texts[_i].text ? texts[_i].text : "untouched");
}
END_TEST

START_TEST(a_string_without_memory_is_refused)
{
    CLEANUP(arena_done) struct arena arena = {.failed = true};
    const char *text = "untouched";

    ck_assert(!json_to_text(bytes_of("\"a\""), &arena, &text));
    ck_assert_str_eq(text, "untouched");
}
END_TEST

static const struct {
    const char *rule;
    const char *value;
    bool fits;
    int64_t number;
} numbers[] = {
    {"an integer", "42", true, 42},
    {"a negative one", "-42", true, -42},
    {"minus zero is zero", "-0", true, 0},
    {"the largest", "9223372036854775807", true, INT64_MAX},
    {"the smallest", "-9223372036854775808", true, INT64_MIN},
    {"one more than the largest", "9223372036854775808", false, 0},
    {"one less than the smallest", "-9223372036854775809", false, 0},
    {"forty digits", "1234567890123456789012345678901234567890", false, 0},
    {"a fraction", "1.5", false, 0},
    {"a fraction that is whole", "1.0", false, 0},
    {"an exponent", "1e3", false, 0},
    {"a leading zero", "01", false, 0},
    {"a string", "\"1\"", false, 0},
    {"null", "null", false, 0},
    {"true", "true", false, 0},
    {"an array", "[1]", false, 0},
    {"space after it", "1 ", false, 0},
    {"nothing", "", false, 0},
};

START_TEST(only_plain_integers_of_64_bits_are_integers)
{
    int64_t number = 99;
    const bool fits = json_to_int(bytes_of(numbers[_i].value), &number);

    ck_assert_msg(fits == numbers[_i].fits, "%s", numbers[_i].rule);
    ck_assert_int_eq(number, fits ? numbers[_i].number : 99);
}
END_TEST

static const struct {
    const char *value;
    bool is_bool, flag, is_null;
} words[] = {
    {"true", true, true, false},       {"false", true, false, false},
    {"null", false, false, true},      {"\"true\"", false, false, false},
    {"\"null\"", false, false, false}, {"1", false, false, false},
    {"0", false, false, false},        {"tru", false, false, false},
    {"truex", false, false, false},    {"nul", false, false, false},
    {"nullx", false, false, false},    {"", false, false, false},
};

START_TEST(true_false_and_null_are_words)
{
    const struct bytes value = bytes_of(words[_i].value);
    bool flag = !words[_i].flag;

    ck_assert_msg(json_means_null(value) == words[_i].is_null, "%s", words[_i].value);
    ck_assert_msg(json_to_bool(value, &flag) == words[_i].is_bool, "%s", words[_i].value);
    ck_assert_msg(flag == (words[_i].is_bool ? words[_i].flag : !words[_i].flag), "%s",
                  words[_i].value);
}
END_TEST

START_TEST(an_absent_value_is_of_no_type)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct bytes absent = {NULL, 0};
    const char *text = NULL;
    int64_t number = 0;
    bool flag = false;

    ck_assert(!json_to_text(absent, &arena, &text));
    ck_assert(!json_to_int(absent, &number));
    ck_assert(!json_to_bool(absent, &flag));
    ck_assert(!json_means_null(absent));
}
END_TEST

static TCase *split_tests(void)
{
    TCase *split = pure_case("split");

    tcase_add_test(split, members_come_in_order_with_their_values_as_written);
    tcase_add_test(split, an_empty_object_has_no_members);
    tcase_add_test(split, an_object_may_have_very_many_members);
    tcase_add_loop_test(split, only_an_object_with_distinct_names_is_split, 0, COUNT_OF(unsplit));
    tcase_add_test(split, depth_is_limited_inside_members_as_well);
    tcase_add_test(split, a_split_without_memory_says_so);
    return split;
}

Suite *json_suite(void)
{
    Suite *suite = suite_create("base/json");
    TCase *decode = pure_case("decode");

    suite_add_tcase(suite, json_scan_case());
    suite_add_tcase(suite, json_verdicts_case());
    suite_add_tcase(suite, split_tests());
    tcase_add_loop_test(decode, compact_drops_the_space_between_tokens, 0, COUNT_OF(compacted));
    tcase_add_loop_test(decode, a_string_is_decoded, 0, COUNT_OF(texts));
    tcase_add_test(decode, a_string_without_memory_is_refused);
    tcase_add_loop_test(decode, only_plain_integers_of_64_bits_are_integers, 0, COUNT_OF(numbers));
    tcase_add_loop_test(decode, true_false_and_null_are_words, 0, COUNT_OF(words));
    tcase_add_test(decode, an_absent_value_is_of_no_type);
    suite_add_tcase(suite, decode);
    return suite;
}
