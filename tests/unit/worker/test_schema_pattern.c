/*
 * test_schema_pattern.c - regular expressions by PCRE2, with bounded work.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "suites.h"
#include "worker/schema_pattern.h"

#include <stdlib.h>
#include <string.h>

#define STEPS INT64_C(10000000)

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static const struct schema_pattern *compile(const char *text, struct arena *arena)
{
    const struct schema_pattern *pattern = NULL;
    struct error err = {0};

    ck_assert_msg(schema_pattern_compile(bytes_of(text), arena, &pattern, &err), "%s", err.text);
    return pattern;
}

static const struct {
    const char *rule;
    const char *pattern, *text;
    bool is_found;
} searches[] = {
    {"anywhere in the text", "b+", "abbc", true},
    {"nowhere in it", "d", "abbc", false},
    {"^ is the start", "^b", "ab", false},
    {"of the text, not of a line", "^b", "a\nb", false},
    {"$ is the end", "a$", "ab", false},
    {"the very end", "a$", "a\n", false},
    {"an empty pattern", "", "", true},
    {"a dot is a character", "^.$", "\xF0\x9F\x9A\xA2", true},
    {"but no end of a line", "^.$", "\r", false},
    {"a class of characters", "^[é-ê]$", "é", true},
    {"\\uXXXX is a character", "^\\u00e9$", "é", true},
    {"\\d is a digit of ASCII", "^\\d$", "٣", false},
    {"properties of Unicode", "^\\p{L}+$", "größe", true},
    {"an empty class is nothing", "[]", "]", false},
    {"a group that was not taken is empty", "^(a)?b\\1$", "b", true},
    {"looking around", "^(?=.*[0-9])(?!.*x).{3,}$", "ab1", true},
    {"case matters", "A", "a", false},
};

START_TEST(a_pattern_is_found_as_json_schema_says)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema_pattern *pattern = compile(searches[_i].pattern, &arena);
    int64_t steps = STEPS;

    ck_assert_msg(schema_pattern_find(pattern, bytes_of(searches[_i].text), &steps) ==
                      (searches[_i].is_found ? MATCH_FOUND : MATCH_NONE),
                  "%s", searches[_i].rule);
    ck_assert_int_ge(steps, 0);
}
END_TEST

static const struct {
    const char *pattern, *error;
} wrong[] = {
    {"a(b", "at byte 4 of the pattern: missing closing parenthesis"},
    {"*", "at byte 1 of the pattern: quantifier does not follow a repeatable item"},
    {"[b-a]", "at byte 4 of the pattern: range out of order in character class"},
    {"a\\C", "at byte 4 of the pattern: using \\C is disabled by the application"},
};

START_TEST(a_wrong_pattern_says_where_it_is_wrong)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema_pattern *pattern = NULL;
    struct error err = {0};

    ck_assert(!schema_pattern_compile(bytes_of(wrong[_i].pattern), &arena, &pattern, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, wrong[_i].error);
}
END_TEST

/* Texts that are made of many times the same. */
static const struct {
    const char *rule;
    const char *pattern;
    const char *piece;
    size_t length;
    const char *end;
} hostile[] = {
    {"two ways at each character", "^(a+)+$", "a", 64, "b"},
    {"the same from each beginning", "(a|aa)+$", "a", 5000000, "b"},
    {"a little at each of many beginnings", "a.*[bc]", "a", 5000000, ""},
    {"runs that fail at their end", "a[^x]*+[xy]", "a", 5000000, ""},
    {"back references compare long texts", "(a*)\\1b", "a", 5000000, ""},
    {"counted runs that fail unseen", "a[ab]{60000}", "aaaaaaaaaaaaaaaaaaaaac", 5000000, ""},
    {"counted runs between others", "[ab]{1,60000}[cd]", "a", 5000000, ""},
    {"looking back far", "(?<=[ab]{60000})c", "c", 5000000, ""},
    {"recursion", "^(\\((?1)*\\))+$", "(", 5000000, ""},
};

START_TEST(a_hostile_text_is_given_up)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema_pattern *pattern = compile(hostile[_i].pattern, &arena);
    const size_t piece = strlen(hostile[_i].piece), end = strlen(hostile[_i].end);
    AUTO_FREE unsigned char *text = malloc(hostile[_i].length + end + 1);
    int64_t steps = STEPS;

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < hostile[_i].length; i++)
        text[i] = (unsigned char)hostile[_i].piece[i % piece];
    memcpy(text + hostile[_i].length, hostile[_i].end, end + 1);
    const struct bytes all = {text, hostile[_i].length + end};
    ck_assert_msg(schema_pattern_find(pattern, all, &steps) == MATCH_GIVEN_UP, "%s",
                  hostile[_i].rule);
}
END_TEST

START_TEST(a_long_text_that_is_easy_costs_little)
{
    enum { LONG = 5000000 };
    CLEANUP(arena_done) struct arena arena = {0};
    AUTO_FREE unsigned char *text = malloc(LONG);
    int64_t steps = STEPS;

    ck_assert_ptr_nonnull(text);
    memset(text, 'a', LONG);
    ck_assert_int_eq(
        schema_pattern_find(compile("^[a-z]*$", &arena), (struct bytes){text, LONG}, &steps),
        MATCH_FOUND);
    ck_assert_int_gt(steps, STEPS - LONG / 8);
}
END_TEST

Suite *schema_pattern_suite(void)
{
    Suite *suite = suite_create("worker/schema_pattern");
    TCase *find = pure_case("find");

    tcase_add_loop_test(find, a_pattern_is_found_as_json_schema_says, 0, COUNT_OF(searches));
    tcase_add_loop_test(find, a_wrong_pattern_says_where_it_is_wrong, 0, COUNT_OF(wrong));
    tcase_add_loop_test(find, a_hostile_text_is_given_up, 0, COUNT_OF(hostile));
    tcase_add_test(find, a_long_text_that_is_easy_costs_little);
    suite_add_tcase(suite, find);
    return suite;
}
