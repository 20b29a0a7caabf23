#include "cli/options.h"

#include "base/buffer.h"
#include "base/error.h"
#include "suites.h"

#include <string.h>

#define WORDS_MAX 40

enum { QUEUE, LIMIT, TIMEOUT, STATE, AFTER, TEXT, QUIET, YES, WAIT, TAG, ROWS };

static const char *const states[] = {"ready", "running", "dead", NULL};

static const struct option table[] = {
    [QUEUE] = {"queue", 'q', "NAME", "the queue", OPTION_NAME},
    [LIMIT] = {"limit", 'n', "N", "how many", OPTION_NUMBER, .min = 1, .max = 100},
    [TIMEOUT] = {"timeout", 0, "DURATION", "how long", OPTION_DURATION, .min = USEC_PER_SEC,
                 .max = USEC_PER_HOUR},
    [STATE] = {"state", 's', "STATE", "which", OPTION_CHOICE, .choices = states},
    [AFTER] = {"after", 'a', "ID", "after which", OPTION_ID},
    [TEXT] = {"text", 0, "TEXT", "anything", OPTION_TEXT},
    [QUIET] = {"quiet", 'Q', NULL, "say nothing", OPTION_FLAG},
    [YES] = {"yes", 'y', NULL, "do not ask", OPTION_FLAG},
    [WAIT] = {"wait", 'w', "D", "how long, if at all", OPTION_DURATION, .min = USEC_PER_SEC,
              .max = USEC_PER_HOUR, .is_optional = true},
    [TAG] = {"tag", 0, "NAME", "as many as you like", OPTION_NAME, .is_several = true},
    [ROWS] = {.name = NULL},
};

enum { JSON, GLOBAL_ROWS };

static const struct option global_table[] = {
    [JSON] = {"json", 'j', NULL, "for programs", OPTION_FLAG},
    [GLOBAL_ROWS] = {.name = NULL},
};

/* One command line, and what became of it. */
struct line {
    const char *items[WORDS_MAX];
    struct words words;
    struct option_value values[ROWS];
    struct option_value global[GLOBAL_ROWS];
    struct error err;
};

static bool parse(struct line *line, enum options_scope scope)
{
    const struct option_set sets[] = {{table, line->values}, {global_table, line->global}};

    line->words = (struct words){line->items, 0};
    while (line->words.count < WORDS_MAX && line->items[line->words.count])
        line->words.count++;
    return options_parse(sets, COUNT_OF(sets), scope, &line->words, &line->err);
}

#define LINE(...)                                                                                  \
    {                                                                                              \
        .items = { __VA_ARGS__ }                                                                   \
    }

START_TEST(a_value_may_follow_or_stand_behind_an_equals_sign)
{
    struct line line = LINE("--queue", "mail", "--limit=7", "-sdead", "--text=");

    ck_assert_msg(parse(&line, OPTIONS_ALL), "%s", line.err.text);
    ck_assert_str_eq(line.values[QUEUE].text, "mail");
    ck_assert_int_eq(line.values[LIMIT].number, 7);
    ck_assert_int_eq(line.values[STATE].number, 2);
    ck_assert(line.values[TEXT].given);
    ck_assert_str_eq(line.values[TEXT].text, "");
    ck_assert(!line.values[TIMEOUT].given);
    ck_assert_uint_eq(line.words.count, 0);
}
END_TEST

START_TEST(a_value_may_contain_an_equals_sign_and_start_with_a_dash)
{
    struct line line = LINE("--text=a=b", "-n", "5", "one");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert_str_eq(line.values[TEXT].text, "a=b");
    struct line dashed = LINE("--text", "--json");
    ck_assert(parse(&dashed, OPTIONS_ALL));
    ck_assert_str_eq(dashed.values[TEXT].text, "--json");
    ck_assert(!dashed.global[JSON].given);
}
END_TEST

START_TEST(an_optional_value_stands_behind_an_equals_sign_or_not_at_all)
{
    struct line with = LINE("--wait=5s", "one");
    struct line without = LINE("--wait", "5s");
    struct line letter = LINE("-wy", "5s");

    ck_assert_msg(parse(&with, OPTIONS_ALL), "%s", with.err.text);
    ck_assert(with.values[WAIT].given);
    ck_assert_int_eq(with.values[WAIT].number, 5 * USEC_PER_SEC);
    ck_assert_msg(parse(&without, OPTIONS_ALL), "%s", without.err.text);
    ck_assert(without.values[WAIT].given);
    ck_assert_ptr_null(without.values[WAIT].text);
    ck_assert_str_eq(without.words.items[0], "5s");
    ck_assert_msg(parse(&letter, OPTIONS_ALL), "%s", letter.err.text);
    ck_assert(letter.values[WAIT].given && letter.values[YES].given);
    ck_assert_str_eq(letter.words.items[0], "5s");
}
END_TEST

START_TEST(one_that_may_be_given_several_times_keeps_all_in_their_order)
{
    struct line line = LINE("--tag", "a", "one", "--tag=b");
    struct line wrong = LINE("--tag", "a", "--tag", "b c");
    struct line many = {0};

    ck_assert_msg(parse(&line, OPTIONS_ALL), "%s", line.err.text);
    ck_assert_uint_eq(line.values[TAG].count, 2);
    ck_assert_str_eq(line.values[TAG].all[0], "a");
    ck_assert_str_eq(line.values[TAG].all[1], "b");
    ck_assert(!parse(&wrong, OPTIONS_ALL));
    ck_assert_ptr_nonnull(strstr(wrong.err.text, "--tag: 'b c' is not a name"));
    for (size_t i = 0; i <= OPTIONS_SEVERAL_MAX; i++)
        many.items[i] = "--tag=a";
    ck_assert(!parse(&many, OPTIONS_ALL));
    ck_assert_str_eq(many.err.text, "--tag is given more than 32 times");
}
END_TEST

START_TEST(options_may_stand_between_arguments)
{
    struct line line = LINE("one", "--quiet", "two", "--limit", "5", "three");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert_uint_eq(line.words.count, 3);
    ck_assert_str_eq(line.words.items[0], "one");
    ck_assert_str_eq(line.words.items[1], "two");
    ck_assert_str_eq(line.words.items[2], "three");
}
END_TEST

START_TEST(leading_options_end_at_the_first_argument)
{
    struct line line = LINE("--json", "ls", "--quiet", "--bogus");

    ck_assert(parse(&line, OPTIONS_LEADING));
    ck_assert(line.global[JSON].given);
    ck_assert(!line.values[QUIET].given);
    ck_assert_uint_eq(line.words.count, 3);
    ck_assert_str_eq(line.words.items[2], "--bogus");
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
    struct line line = LINE("one", "--", "--quiet", "-5", "--");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert(!line.values[QUIET].given);
    ck_assert_uint_eq(line.words.count, 4);
    ck_assert_str_eq(line.words.items[1], "--quiet");
    ck_assert_str_eq(line.words.items[3], "--");
}
END_TEST

START_TEST(a_dash_alone_is_an_argument)
{
    struct line line = LINE("-", "", "--json");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert_uint_eq(line.words.count, 2);
    ck_assert_str_eq(line.words.items[0], "-");
    ck_assert_str_eq(line.words.items[1], "");
}
END_TEST

START_TEST(letters_can_be_joined_and_the_last_may_take_a_value)
{
    struct line line = LINE("-Qyn", "9");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert(line.values[QUIET].given && line.values[YES].given);
    ck_assert_int_eq(line.values[LIMIT].number, 9);
}
END_TEST

START_TEST(a_flag_given_twice_is_a_flag)
{
    struct line line = LINE("--json", "-j", "--json");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert(line.global[JSON].given);
}
END_TEST

START_TEST(values_are_decoded_by_their_kind)
{
    struct line line = LINE("--timeout", "90s", "--after", "0193F0A2-7c1d-7abc-8def-0123456789ab");

    ck_assert(parse(&line, OPTIONS_ALL));
    ck_assert_int_eq(line.values[TIMEOUT].number, 90 * USEC_PER_SEC);
    ck_assert_int_eq(line.values[AFTER].id.bytes[0], 0x01);
    ck_assert_int_eq(line.values[AFTER].id.bytes[15], 0xab);
}
END_TEST

static const struct {
    const char *rule;
    const char *items[4];
    const char *reason;
} refused[] = {
    {"an unknown option is refused", {"--bogusly"}, "unknown option '--bogusly'"},
    {"with the one that was meant", {"--quue", "x"}, "did you mean '--queue'?"},
    {"of all tables", {"--jsn"}, "did you mean '--json'?"},
    {"also with a value", {"--limt=5"}, "unknown option '--limt' (did you mean '--limit'?)"},
    {"an unknown letter is refused", {"-x"}, "unknown option '-x'"},
    {"and so is a negative number, with advice", {"-5"}, "put -- before"},
    {"and one among others", {"-Qx"}, "unknown option '-Qx'"},
    {"a value may not be missing", {"--queue"}, "--queue needs a value: --queue NAME"},
    {"nor after a letter", {"-n"}, "-n needs a value"},
    {"a flag takes no value", {"--json=yes"}, "--json takes no value"},
    {"a value given twice is refused", {"--limit=5", "--limit=5"}, "--limit is given twice"},
    {"in whatever form", {"--limit=5", "-n5"}, "-n is given twice"},
    {"a name must be one", {"--queue", "a b"}, "is not a name"},
    {"and not be empty", {"--queue="}, "is not a name"},
    {"a number must be one", {"--limit", "5x"}, "a whole number from 1 to 100"},
    {"and in its range", {"--limit", "101"}, "a whole number from 1 to 100"},
    {"and not overflow", {"--limit", "99999999999999999999"}, "a whole number from 1 to 100"},
    {"a duration must be one", {"--timeout", "5"}, "--timeout: "},
    {"and not too short", {"--timeout", "1ms"}, "from 1s to 1h"},
    {"and not too long", {"--timeout", "2h"}, "a duration from"},
    {"a choice must be one of several", {"--state", "xyz"}, "use one of ready running dead"},
    {"and the closest is named", {"--state", "runing"}, "did you mean 'running'?"},
    {"an id must be one", {"--after", "123"}, "'123' is not the id of a job"},
    {"and not the one of nobody",
     {"--after", "00000000-0000-0000-0000-000000000000"},
     "is not the id of a job"},
    {"what was typed is harmless in the answer", {"--\033[2J"}, "\\x1b"},
};

START_TEST(what_is_wrong_is_refused_with_a_sentence)
{
    struct line line = {0};

    memcpy(line.items, refused[_i].items, sizeof refused[_i].items);
    ck_assert_msg(!parse(&line, OPTIONS_ALL), "%s", refused[_i].rule);
    ck_assert_int_eq(line.err.code, TH_E_INVALID);
    ck_assert_msg(strstr(line.err.text, refused[_i].reason) != NULL, "%s, not: %s",
                  refused[_i].rule, line.err.text);
}
END_TEST

START_TEST(help_has_a_line_for_every_row)
{
    struct buffer help = BUFFER(4096);

    options_add_help(&help, table);
    for (size_t i = 0; i < options_count(table); i++) {
        ck_assert_ptr_nonnull(strstr(buffer_str(&help), table[i].name));
        ck_assert_ptr_nonnull(strstr(buffer_str(&help), table[i].help));
    }
    ck_assert_ptr_nonnull(strstr(buffer_str(&help), "  -q, --queue NAME"));
    ck_assert_ptr_nonnull(strstr(buffer_str(&help), "      --timeout DURATION"));
    buffer_done(&help);
}
END_TEST

Suite *options_suite(void)
{
    Suite *suite = suite_create("cli/options");
    TCase *reading = pure_case("parse");
    TCase *help = pure_case("help");

    tcase_add_test(reading, a_value_may_follow_or_stand_behind_an_equals_sign);
    tcase_add_test(reading, a_value_may_contain_an_equals_sign_and_start_with_a_dash);
    tcase_add_test(reading, an_optional_value_stands_behind_an_equals_sign_or_not_at_all);
    tcase_add_test(reading, options_may_stand_between_arguments);
    tcase_add_test(reading, one_that_may_be_given_several_times_keeps_all_in_their_order);
    tcase_add_test(reading, leading_options_end_at_the_first_argument);
    tcase_add_test(reading, two_dashes_end_the_options);
    tcase_add_test(reading, a_dash_alone_is_an_argument);
    tcase_add_test(reading, letters_can_be_joined_and_the_last_may_take_a_value);
    tcase_add_test(reading, a_flag_given_twice_is_a_flag);
    tcase_add_test(reading, values_are_decoded_by_their_kind);
    tcase_add_loop_test(reading, what_is_wrong_is_refused_with_a_sentence, 0, COUNT_OF(refused));
    tcase_add_test(help, help_has_a_line_for_every_row);
    suite_add_tcase(suite, reading);
    suite_add_tcase(suite, help);
    return suite;
}
