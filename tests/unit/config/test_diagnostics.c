/*
 * test_diagnostics.c - how faults are listed and shown.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/diagnostics.h"
#include "suites.h"

#include <string.h>

#define PRINTED_MAX ((size_t)1 << 20)

static struct source source_of(const char *name, const char *text)
{
    return (struct source){
        .name = name, .folder = "/", .text = {(const unsigned char *)text, strlen(text)}};
}

static void expect_printed(struct diagnostics *diagnostics, bool for_people, const char *expected)
{
    CLEANUP(buffer_done) struct buffer printed = BUFFER(PRINTED_MAX);

    diagnostics_print(diagnostics, for_people, &printed);
    ck_assert_str_eq(buffer_str(&printed), expected);
}

START_TEST(faults_come_in_the_order_of_their_places)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    struct source main_file = source_of("jobs.yaml", ""), other = source_of("a.yaml", "");

    other.order = 1;
    diagnostics_add(&diagnostics, (struct place){&other, 1, 1}, "fifth");
    diagnostics_add(&diagnostics, (struct place){&main_file, 2, 9}, "fourth");
    diagnostics_add(&diagnostics, (struct place){&main_file, 2, 3}, "third");
    diagnostics_add(&diagnostics, (struct place){&main_file, 0, 0}, "%s", "first");
    diagnostics_add(&diagnostics, (struct place){&main_file, 1, 12}, "second");
    diagnostics_sort(&diagnostics);
    expect_printed(&diagnostics, false,
                   "jobs.yaml: first\njobs.yaml:1:12: second\njobs.yaml:2:3: third\n"
                   "jobs.yaml:2:9: fourth\na.yaml:1:1: fifth\n");
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    size_t line, column;
    const char *shown;
} carets[] = {
    {"the first line", "pol: 1\nlog: {}\n", 1, 1, "    1 | pol: 1\n      | ^\n"},
    {"inside another", "log:\n  levl: info\n", 2, 3, "    2 |   levl: info\n      |   ^\n"},
    {"a last line without an end", "a: 1\nb: x", 2, 4, "    2 | b: x\n      |    ^\n"},
    {"the end of a Windows line stays out", "a: 1\r\n", 1, 4, "    1 | a: 1\n      |    ^\n"},
    {"a tab is one column", "a:\t1\n", 1, 4, "    1 | a: 1\n      |    ^\n"},
    {"letters of two bytes are one column", "\xc3\xa4: x\n", 1, 4,
     "    1 | \xc3\xa4: x\n      |    ^\n"},
    {"no line, no caret", "a: 1\n", 7, 1, ""},
    {"an empty line", "a: 1\n\n", 2, 1, ""},
    {"a URL with a password", "x: postgres://ada:sesame@host/db\n", 1, 4, ""},
    {"a password", "  SMTP_PASSWORD: sesame\n", 1, 3, ""},
    {"a token", "API_TOKEN: sesame\n", 1, 3, ""},
    {"a backend", "backend: sesame\n", 1, 10, ""},
};

START_TEST(people_see_the_line_with_a_caret_and_no_secrets)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    CLEANUP(buffer_done) struct buffer printed = BUFFER(PRINTED_MAX);
    struct source source = source_of("f", carets[_i].text);

    diagnostics_add(&diagnostics, (struct place){&source, carets[_i].line, carets[_i].column}, "x");
    diagnostics_print(&diagnostics, true, &printed);
    const char *after = strchr(buffer_str(&printed), '\n') + 1;
    ck_assert_msg(strcmp(after, carets[_i].shown) == 0, "%s: %s", carets[_i].rule, after);
}
END_TEST

START_TEST(a_long_line_is_left_out)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    char text[1000];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct source source = source_of("f", text);
    diagnostics_add(&diagnostics, (struct place){&source, 1, 500}, "x");
    expect_printed(&diagnostics, true, "f:1:500: x\n");
}
END_TEST

static size_t count_lines(const char *text)
{
    size_t count = 0;

    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        count++;
    }
    return count;
}

START_TEST(fifty_are_shown_and_the_others_counted)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    CLEANUP(buffer_done) struct buffer printed = BUFFER(PRINTED_MAX);
    struct source source = source_of("f", "");

    for (size_t i = 0; i < 1234; i++)
        diagnostics_add(&diagnostics, (struct place){&source, i + 1, 1}, "x");
    diagnostics_print(&diagnostics, false, &printed);
    ck_assert_uint_eq(count_lines(buffer_str(&printed)), 51);
    ck_assert_ptr_nonnull(strstr(buffer_str(&printed), "f:50:1: x\nand 1184 more errors\n"));
}
END_TEST

START_TEST(a_hint_names_the_closest_word)
{
    static const char *const words[] = {"lease", "migrate"};
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};

    ck_assert_str_eq(diagnostics_hint(&diagnostics, "leese", words, COUNT_OF(words)),
                     " (did you mean 'lease'?)");
    ck_assert_str_eq(diagnostics_hint(&diagnostics, "zebra", words, COUNT_OF(words)), "");
}
END_TEST

Suite *diagnostics_suite(void)
{
    Suite *suite = suite_create("config/diagnostics");
    TCase *list = tcase_create("list");

    tcase_add_test(list, faults_come_in_the_order_of_their_places);
    tcase_add_loop_test(list, people_see_the_line_with_a_caret_and_no_secrets, 0, COUNT_OF(carets));
    tcase_add_test(list, a_long_line_is_left_out);
    tcase_add_test(list, fifty_are_shown_and_the_others_counted);
    tcase_add_test(list, a_hint_names_the_closest_word);
    suite_add_tcase(suite, list);
    return suite;
}
