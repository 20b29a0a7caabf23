/*
 * test_output.c - lines and tails of what is printed.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
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

START_TEST(the_last_bytes_are_kept_however_they_came)
{
    static const size_t sizes[] = {1, 7, 1000, 4095, 4096, 4097, 9000};
    CLEANUP(buffer_done) struct buffer all = BUFFER(20000);
    CLEANUP(buffer_done) struct buffer kept = BUFFER(OUTPUT_TAIL_SIZE);
    CLEANUP(buffer_done) struct buffer text = BUFFER(OUTPUT_TAIL_SIZE);
    struct tail tail = {0};

    while (all.length < 9000) {
        const size_t start = all.length;

        while (all.length < start + sizes[_i])
            buffer_char(&all, (char)('a' + all.length % 23));
        tail_add(&tail, (struct bytes){(unsigned char *)all.data + start, sizes[_i]});

        const size_t length = all.length < OUTPUT_TAIL_SIZE ? all.length : OUTPUT_TAIL_SIZE;
        buffer_clear(&kept);
        buffer_clear(&text);
        tail_read(&tail, &kept);
        tail_read_text(&tail, &text);
        ck_assert_uint_eq(kept.length, length);
        ck_assert_mem_eq(kept.data, all.data + all.length - length, length);
        ck_assert_str_eq(text.data, kept.data);
    }
    ck_assert_uint_eq(tail.total, all.length);
}
END_TEST

static const struct {
    const char *rule;
    struct bytes printed;
    const char *text;
} texts[] = {
    {"nothing is empty", {(const unsigned char *)"", 0}, ""},
    {"space at the end goes", {(const unsigned char *)" a \r\n\n", 6}, " a"},
    {"a NUL is visible", {(const unsigned char *)"a\0b", 3}, "a?b"},
    {"what is no UTF-8 is visible",
     {(const unsigned char *)"\x80\xff\xc3\xa4\xc3", 5},
     "??\xc3\xa4?"},
};

START_TEST(a_tail_is_text_whatever_was_printed)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(OUTPUT_TAIL_SIZE);
    struct tail tail = {0};

    tail_add(&tail, texts[_i].printed);
    tail_read_text(&tail, &text);
    ck_assert_msg(strcmp(buffer_str(&text), texts[_i].text) == 0, "%s", texts[_i].rule);
}
END_TEST

START_TEST(a_character_that_was_cut_is_left_out)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(OUTPUT_TAIL_SIZE);
    static unsigned char filler[OUTPUT_TAIL_SIZE - 2];
    struct tail tail = {0};

    memset(filler, 'x', sizeof filler);
    tail_add(&tail, bytes_of("\xe2\x82\xac"));
    tail_add(&tail, (struct bytes){filler, sizeof filler});
    tail_read_text(&tail, &text);
    ck_assert_uint_eq(text.length, sizeof filler);
    ck_assert_int_eq(text.data[0], 'x');
}
END_TEST

Suite *output_suite(void)
{
    Suite *suite = suite_create("worker/output");
    TCase *lines = tcase_create("lines");
    TCase *tails = tcase_create("tail");

    tcase_add_checked_fixture(lines, NULL, forget);
    tcase_add_loop_test(lines, lines_are_put_together, 0, COUNT_OF(cases));
    tcase_add_test(lines, a_line_without_end_is_cut_and_the_rest_counted);
    suite_add_tcase(suite, lines);
    tcase_add_loop_test(tails, the_last_bytes_are_kept_however_they_came, 0, 7);
    tcase_add_loop_test(tails, a_tail_is_text_whatever_was_printed, 0, COUNT_OF(texts));
    tcase_add_test(tails, a_character_that_was_cut_is_left_out);
    suite_add_tcase(suite, tails);
    return suite;
}
