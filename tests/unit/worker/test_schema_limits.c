/*
 * test_schema_limits.c - a payload against its JSON schema: the largest, the worst, and any at all.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "schema_text.h"
#include "suites.h"
#include "worker/schema.h"
#include "worker/schema_node.h"

#include <string.h>

#define LARGE   ((size_t)16 << 20)
#define SECONDS 120 /* for what takes a second without sanitizers */

/* a0 is allOf a1, which is allOf a2, and so on. */
static void write_chain(struct buffer *text, int length)
{
    buffer_text(text, "{\"definitions\":{");
    for (int i = 0; i < length - 1; i++)
        buffer_printf(text, "\"a%d\":{\"allOf\":[{\"$ref\":\"#/definitions/a%d\"}]},", i, i + 1);
    buffer_printf(text,
                  "\"a%d\":{\"items\":{\"$ref\":\"#/definitions/a0\"},\"type\":\"array\"}},"
                  "\"$ref\":\"#/definitions/a0\"}",
                  length - 1);
}

START_TEST(so_many_schemas_may_apply_to_one_value)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer text = BUFFER(LARGE);
    const struct schema *schema = NULL;
    struct error err = {0};

    write_chain(&text, SCHEMA_NESTED_MAX + 1);
    const struct bytes bytes = {(const unsigned char *)text.data, text.length};
    ck_assert(!schema_text_load(bytes, &arena, &schema, &err));
    ck_assert_ptr_nonnull(
        strstr(err.text, "more than 32 schemas inside each other apply to one value"));
}
END_TEST

static const char *nested_arrays(char text[2 * JSON_DEPTH_MAX + 1])
{
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    text[2 * JSON_DEPTH_MAX] = '\0';
    return text;
}

START_TEST(the_deepest_payload_fits_the_deepest_schema)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer text = BUFFER(LARGE);
    char payload[2 * JSON_DEPTH_MAX + 1];

    write_chain(&text, SCHEMA_NESTED_MAX);
    const struct schema *schema = schema_text_of(buffer_str(&text), &arena);
    ck_assert_str_eq(schema_text_check(schema, nested_arrays(payload)), "");
}
END_TEST

START_TEST(two_ways_at_each_level_are_given_up)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema =
        schema_text_of("{\"not\":{\"anyOf\":[{\"minItems\":1,\"items\":{\"$ref\":\"#/not\"}},"
                       "{\"minItems\":1,\"items\":{\"$ref\":\"#/not\"}}]}}",
                       &arena);
    char payload[2 * JSON_DEPTH_MAX + 1];

    ck_assert_ptr_nonnull(
        strstr(schema_text_check(schema, nested_arrays(payload)), "takes too long to check"));
}
END_TEST

START_TEST(a_pattern_that_is_given_up_does_not_fit_even_a_negation)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema =
        schema_text_of("{\"properties\":{\"a\":{\"not\":{\"pattern\":\"^(a+)+$\"}}}}", &arena);

    ck_assert_str_eq(
        schema_text_check(schema, "{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"}"),
        "/a: takes too long to match with the pattern");
}
END_TEST

/* The most values that a payload may have, and the most of other things, as far as time allows. */
static const struct {
    const char *rule;
    size_t size;
    const char *start, *piece, *end;
} large_payloads[] = {
    {"very many numbers", LARGE, "[0", ",0", "]"},
    {"very many objects", LARGE / 8, "[0", ",{}", "]"},
    {"one string", LARGE, "[\"", "aaaaaaaa", "\"]"},
    {"one string of escapes", LARGE / 8, "[\"", "\\u00e9", "\"]"},
    {"one number", LARGE / 8, "[1", "0", "]"},
    {"many small objects", LARGE / 8, "[0", ",{\"a\":\"b\"}", "]"},
};

START_TEST(a_large_payload_is_checked)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer payload = BUFFER(LARGE);
    const struct schema *schema = schema_text_of(
        "{\"items\":{\"$ref\":\"#/definitions/item\"},\"definitions\":{\"item\":{\"type\":"
        "[\"integer\",\"string\",\"object\"],\"minLength\":1,\"minimum\":0,"
        "\"properties\":{\"a\":{\"maxLength\":1}}}}}",
        &arena);
    const char *piece = large_payloads[_i].piece, *end = large_payloads[_i].end;
    const size_t length = strlen(piece);

    buffer_text(&payload, large_payloads[_i].start);
    while (payload.length + length + strlen(end) <= large_payloads[_i].size)
        buffer_add(&payload, piece, length);
    buffer_text(&payload, end);
    const char *fault = schema_text_check(schema, buffer_str(&payload));
    ck_assert_msg(fault[0] == '\0', "%s: %s", large_payloads[_i].rule, fault);
}
END_TEST

START_TEST(very_many_distinct_names_are_checked)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer payload = BUFFER(LARGE);
    const struct schema *schema =
        schema_text_of("{\"required\":[\"n1\",\"n99999\"],\"properties\":{\"n500\":{\"const\":0}},"
                       "\"additionalProperties\":{\"type\":\"integer\"}}",
                       &arena);

    for (int i = 0; i < 100000; i++)
        buffer_printf(&payload, "%s\"n%d\":0", i == 0 ? "{" : ",", i);
    buffer_text(&payload, "}");
    ck_assert_str_eq(schema_text_check(schema, buffer_str(&payload)), "");
}
END_TEST

/* ---- anything ---- */

struct dice {
    uint64_t state;
};

static unsigned roll(struct dice *dice, unsigned sides)
{
    dice->state = dice->state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(dice->state >> 33) % sides;
}

#define PICK(dice, list) ((list)[roll(dice, COUNT_OF(list))])

static const char *const scalars[] = {
    "null",  "true",    "false",       "0",        "-1",
    "1.0",   "2.50e1",  "1e400",       "1e-99",    "\"\"",
    "\"a\"", "\"aab\"", "\"\\u00e9\"", "\"b\\n\"", "18446744073709551616",
};
static const char *const names[] = {"a", "b", "c", "\\u0061\\u0062", "/~%", ""};

static void write_value(struct dice *dice, struct buffer *out, int depth)
{
    const unsigned kind = roll(dice, depth > 0 ? 4 : 2);
    const unsigned count = roll(dice, 4);

    if (kind < 2) {
        buffer_text(out, PICK(dice, scalars));
        return;
    }
    buffer_char(out, kind == 2 ? '[' : '{');
    for (unsigned i = 0; i < count; i++) {
        buffer_text(out, i > 0 ? "," : "");
        if (kind == 3)
            buffer_printf(out, "\"%s\":", names[(i + roll(dice, 2)) % COUNT_OF(names)]);
        write_value(dice, out, depth - 1);
    }
    buffer_char(out, kind == 2 ? ']' : '}');
}

static void write_schema(struct dice *dice, struct buffer *out, int depth);

static void write_schemas(struct dice *dice, struct buffer *out, int depth)
{
    const unsigned count = 1 + roll(dice, 3);

    buffer_char(out, '[');
    for (unsigned i = 0; i < count; i++) {
        buffer_text(out, i > 0 ? "," : "");
        write_schema(dice, out, depth);
    }
    buffer_char(out, ']');
}

static void write_members(struct dice *dice, struct buffer *out, int depth)
{
    buffer_char(out, '{');
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        buffer_printf(out, "%s\"%s\":", i > 0 ? "," : "", names[i]);
        write_schema(dice, out, depth - 1);
    }
    buffer_char(out, '}');
}

/* The value of a keyword: what belongs there mostly, and sometimes anything. */
static void write_keyword(struct dice *dice, struct buffer *out, int depth)
{
    static const char *const simple[] = {
        "\"type\":\"string\"",
        "\"type\":[\"array\",\"object\",\"null\"]",
        "\"type\":\"integer\"",
        "\"minimum\":0",
        "\"maximum\":1e1",
        "\"minLength\":1",
        "\"maxLength\":2",
        "\"pattern\":\"^(a|b)*$\"",
        "\"minItems\":1",
        "\"maxItems\":2",
        "\"required\":[\"a\",\"ab\"]",
        "\"enum\":[1,\"a\",[],{}]",
        "\"const\":1",
        "\"$ref\":\"#\"",
        "\"$ref\":\"#/definitions/a\"",
        "\"$ref\":\"#/items\"",
        "\"title\":1",
        "\"typo\":1",
    };
    static const char *const lists[] = {"allOf", "anyOf", "oneOf", "items"};
    static const char *const nested[] = {"not", "items", "additionalProperties"};
    static const char *const maps[] = {"properties", "definitions"};

    switch (roll(dice, depth > 0 ? 12 : 6)) {
    case 6:
    case 7:
        buffer_printf(out, "\"%s\":", PICK(dice, lists));
        write_schemas(dice, out, depth - 1);
        break;
    case 8:
    case 9:
        buffer_printf(out, "\"%s\":", PICK(dice, nested));
        write_schema(dice, out, depth - 1);
        break;
    case 10:
    case 11:
        buffer_printf(out, "\"%s\":", PICK(dice, maps));
        write_members(dice, out, depth - 1);
        break;
    default:
        buffer_text(out, PICK(dice, simple));
    }
}

static void write_schema(struct dice *dice, struct buffer *out, int depth)
{
    const unsigned count = roll(dice, 4);

    if (roll(dice, 10) == 0) {
        buffer_text(out, roll(dice, 2) ? "true" : "false");
        return;
    }
    buffer_char(out, '{');
    for (unsigned i = 0; i < count; i++) {
        buffer_text(out, i > 0 ? "," : "");
        write_keyword(dice, out, depth);
    }
    buffer_char(out, '}');
}

/* A payload either fits a schema or its opposite; only what was given up or cannot be read fits
 * neither. */
static void check_both_ways(struct dice *dice, const char *text, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer opposite = BUFFER(LARGE);
    CLEANUP(buffer_done) struct buffer payload = BUFFER(LARGE);
    const struct schema *schema = schema_text_of(text, arena);

    buffer_printf(&opposite, "{\"definitions\":{\"a\":true},\"items\":true,\"not\":%s}", text);
    for (int i = 0; i < 8; i++) {
        buffer_clear(&payload);
        write_value(dice, &payload, 4);
        const bool fits = schema_text_check(schema, buffer_str(&payload))[0] == '\0';
        if (!strstr(text, "$ref")) {
            const struct schema *against = schema_text_of(buffer_str(&opposite), arena);
            const char *fault = schema_text_check(against, buffer_str(&payload));

            if (!strstr(fault, "appears twice"))
                ck_assert_msg(fits == (fault[0] != '\0'), "%s\n%s", text, buffer_str(&payload));
        }
    }
}

START_TEST(any_payload_against_any_schema_does_no_harm)
{
    struct dice dice = {.state = (uint64_t)_i * 7919 + 1};
    int loaded = 0;

    for (int i = 0; i < 400; i++) {
        CLEANUP(arena_done) struct arena arena = {0};
        CLEANUP(buffer_done) struct buffer text = BUFFER(LARGE);
        const struct schema *schema = NULL;
        struct error err = {0};

        write_schema(&dice, &text, 3);
        const struct bytes bytes = {(const unsigned char *)buffer_str(&text), text.length};
        if (!schema_text_load(bytes, &arena, &schema, &err))
            continue;
        loaded++;
        check_both_ways(&dice, buffer_str(&text), &arena);
    }
    ck_assert_int_gt(loaded, 20);
}
END_TEST

static TCase *limit_tests(void)
{
    TCase *limits = pure_case("limits");

    tcase_set_timeout(limits, SECONDS);
    tcase_add_test(limits, so_many_schemas_may_apply_to_one_value);
    tcase_add_test(limits, the_deepest_payload_fits_the_deepest_schema);
    tcase_add_test(limits, two_ways_at_each_level_are_given_up);
    tcase_add_test(limits, a_pattern_that_is_given_up_does_not_fit_even_a_negation);
    tcase_add_loop_test(limits, a_large_payload_is_checked, 0, COUNT_OF(large_payloads));
    tcase_add_test(limits, very_many_distinct_names_are_checked);
    return limits;
}

Suite *schema_limits_suite(void)
{
    Suite *suite = suite_create("worker/schema_limits");
    TCase *anything = pure_case("anything");

    suite_add_tcase(suite, limit_tests());
    tcase_set_timeout(anything, SECONDS);
    tcase_add_loop_test(anything, any_payload_against_any_schema_does_no_harm, 0, 10);
    suite_add_tcase(suite, anything);
    return suite;
}
