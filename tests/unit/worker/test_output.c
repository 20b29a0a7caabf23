/*
 * test_output.c - what is printed, line by line.
 */
#include "base/buffer.h"
#include "suites.h"
#include "worker/output.h"

#include <string.h>

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static struct buffer seen = BUFFER(100000);

static void see(void *context, struct bytes line, uint64_t dropped)
{
    (void)context;
    buffer_add(&seen, line.data, line.length);
    if (dropped > 0)
        buffer_printf(&seen, "+%llu", (unsigned long long)dropped);
    buffer_char(&seen, '|');
}

static void forget(void)
{
    buffer_done(&seen);
}

static const struct {
    const char *rule;
    const char *parts[4];
    const char *lines;
} cases[] = {
    {"a line is told at its end", {"one\ntw", "o\n"}, "one|two|"},
    {"and so is an empty one", {"\n\n"}, "||"},
    {"what has no newline is told at the end", {"one\ntwo"}, "one|two|"},
    {"nothing is no line", {""}, ""},
};

START_TEST(lines_are_put_together)
{
    struct output output = {.line = see};

    for (const char *const *part = cases[_i].parts; *part; part++)
        output_add(&output, bytes_of(*part));
    output_end(&output);
    ck_assert_msg(strcmp(buffer_str(&seen), cases[_i].lines) == 0, "%s, not %s", cases[_i].rule,
                  buffer_str(&seen));
}
END_TEST

START_TEST(a_line_without_end_is_cut_and_the_rest_counted)
{
    static unsigned char long_line[OUTPUT_LINE_MAX + 5];
    struct output output = {.line = see};

    memset(long_line, 'x', sizeof long_line);
    output_add(&output, (struct bytes){long_line, sizeof long_line});
    output_add(&output, bytes_of("yyy\nnext\n"));
    ck_assert_uint_eq(seen.length, OUTPUT_LINE_MAX + strlen("+8|next|"));
    ck_assert_str_eq(seen.data + OUTPUT_LINE_MAX, "+8|next|");
}
END_TEST

Suite *output_suite(void)
{
    Suite *suite = suite_create("worker/output");
    TCase *lines = tcase_create("lines");

    tcase_add_checked_fixture(lines, NULL, forget);
    tcase_add_loop_test(lines, lines_are_put_together, 0, COUNT_OF(cases));
    tcase_add_test(lines, a_line_without_end_is_cut_and_the_rest_counted);
    suite_add_tcase(suite, lines);
    return suite;
}
