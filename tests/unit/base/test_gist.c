/*
 * test_gist.c - the two ends of a long text.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/gist.h"
#include "suites.h"

#include <string.h>

#define BOTH (GIST_HEAD + GIST_TAIL)

static void fill(struct buffer *text, size_t length)
{
    while (text->length < length)
        buffer_char(text, (char)('a' + text->length % 23));
}

static void add_in_pieces(struct gist *gist, const struct buffer *text, size_t piece)
{
    for (size_t at = 0; at < text->length; at += piece) {
        const size_t left = text->length - at;

        gist_add(gist, (struct bytes){(const unsigned char *)text->data + at,
                                      left < piece ? left : piece});
    }
}

static const size_t lengths[] = {1, GIST_HEAD - 1, GIST_HEAD, GIST_HEAD + 1, 2000, BOTH};

START_TEST(what_fits_is_whole)
{
    static const size_t pieces[] = {1, 13, 1024, BOTH};

    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        CLEANUP(buffer_done) struct buffer text = BUFFER(BOTH), kept = BUFFER(GIST_MAX);
        struct gist gist = {0};

        fill(&text, lengths[_i]);
        add_in_pieces(&gist, &text, pieces[i]);
        gist_read(&gist, &kept);
        ck_assert_str_eq(buffer_str(&kept), text.data);
    }
}
END_TEST

static const size_t long_lengths[] = {BOTH + 1, 2 * BOTH, 100000};

START_TEST(of_more_the_head_and_the_tail_are_kept_and_the_rest_is_counted)
{
    static const size_t pieces[] = {1, 13, 1500, 9000, 100000};

    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        CLEANUP(buffer_done) struct buffer text = BUFFER(100000), kept = BUFFER(GIST_MAX);
        CLEANUP(buffer_done) struct buffer expected = BUFFER(GIST_MAX);
        struct gist gist = {0};

        fill(&text, long_lengths[_i]);
        add_in_pieces(&gist, &text, pieces[i]);
        gist_read(&gist, &kept);
        buffer_add(&expected, text.data, GIST_HEAD);
        buffer_printf(&expected, "\n[... %zu bytes left out ...]\n%s", text.length - BOTH,
                      text.data + text.length - GIST_TAIL);
        ck_assert_str_eq(buffer_str(&kept), buffer_str(&expected));
    }
}
END_TEST

START_TEST(it_is_cut_between_characters)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(20000), kept = BUFFER(GIST_MAX);
    CLEANUP(buffer_done) struct buffer expected = BUFFER(GIST_MAX);

    for (int i = 0; i < 3000; i++)
        buffer_text(&text, "\xe2\x82\xac");
    buffer_char(&text, '!');
    gist_of(text.data, &kept);
    /* 1024 is one more than a multiple of 3, and so is 3071. */
    buffer_add(&expected, text.data, 1023);
    buffer_printf(&expected, "\n[... %d bytes left out ...]\n", 9001 - 1023 - 3070);
    buffer_text(&expected, text.data + 9001 - 3070);
    ck_assert_str_eq(buffer_str(&kept), buffer_str(&expected));
}
END_TEST

static const struct {
    const char *rule;
    struct bytes said;
    const char *text;
} texts[] = {
    {"nothing is empty", {(const unsigned char *)"", 0}, ""},
    {"space at the end goes", {(const unsigned char *)" a \r\n\n", 6}, " a"},
    {"a NUL is visible", {(const unsigned char *)"a\0b", 3}, "a?b"},
    {"what is no UTF-8 is visible",
     {(const unsigned char *)"\x80\xff\xc3\xa4\xc3", 5},
     "??\xc3\xa4?"},
};

START_TEST(it_is_text_whatever_was_added)
{
    CLEANUP(buffer_done) struct buffer kept = BUFFER(GIST_MAX);
    struct gist gist = {0};

    gist_add(&gist, texts[_i].said);
    gist_read(&gist, &kept);
    ck_assert_msg(strcmp(buffer_str(&kept), texts[_i].text) == 0, "%s", texts[_i].rule);
}
END_TEST

Suite *gist_suite(void)
{
    Suite *suite = suite_create("base/gist");
    TCase *ends = pure_case("ends");

    tcase_add_loop_test(ends, what_fits_is_whole, 0, COUNT_OF(lengths));
    tcase_add_loop_test(ends, of_more_the_head_and_the_tail_are_kept_and_the_rest_is_counted, 0,
                        COUNT_OF(long_lengths));
    tcase_add_test(ends, it_is_cut_between_characters);
    tcase_add_loop_test(ends, it_is_text_whatever_was_added, 0, COUNT_OF(texts));
    suite_add_tcase(suite, ends);
    return suite;
}
