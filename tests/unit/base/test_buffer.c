/*
 * test_buffer.c - bytes that grow, up to a limit.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "suites.h"

#include <string.h>

START_TEST(an_empty_buffer_reads_as_empty_text)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(10);
    struct error err;

    ck_assert_str_eq(buffer_str(&buffer), "");
    ck_assert(buffer_ok(&buffer, &err));
    buffer_add(&buffer, NULL, 0);
    ck_assert_str_eq(buffer_str(&buffer), "");
    ck_assert(buffer_ok(&buffer, &err));
}
END_TEST

START_TEST(additions_stand_one_behind_the_other)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(1000);

    buffer_text(&buffer, "text ");
    buffer_char(&buffer, 'c');
    buffer_add(&buffer, " bytes", 3);
    buffer_printf(&buffer, "%d %s", 42, "formatted");
    ck_assert_str_eq(buffer_str(&buffer), "text c by42 formatted");
    ck_assert_uint_eq(buffer.length, 21);
}
END_TEST

START_TEST(nuls_are_bytes_like_others)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(10);

    buffer_add(&buffer, "a\0b", 3);
    buffer_char(&buffer, '\0');
    ck_assert_uint_eq(buffer.length, 4);
    ck_assert_mem_eq(buffer.data, "a\0b\0\0", 5);
}
END_TEST

START_TEST(it_ends_in_a_nul_after_every_addition)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(10000);

    for (size_t i = 0; i < 2000; i++) {
        buffer_char(&buffer, 'x');
        ck_assert_uint_eq(buffer.length, i + 1);
        ck_assert_int_eq(buffer.data[buffer.length], '\0');
        ck_assert_uint_gt(buffer.capacity, buffer.length);
    }
}
END_TEST

START_TEST(a_formatted_text_of_any_length_arrives_whole)
{
    char expected[300] = "";

    for (size_t length = 0; length < sizeof expected; length++) {
        CLEANUP(buffer_done) struct buffer buffer = BUFFER(10000);

        expected[length] = '\0';
        buffer_text(&buffer, "before ");
        buffer_printf(&buffer, "%s", expected);
        ck_assert(!buffer.failed);
        ck_assert_uint_eq(buffer.length, 7 + length);
        ck_assert_str_eq(buffer_str(&buffer) + 7, expected);
        expected[length] = 'y';
    }
}
END_TEST

/* Each adds five bytes. */
static void add_five(struct buffer *buffer)
{
    buffer_add(buffer, "12345", 5);
}

static void text_five(struct buffer *buffer)
{
    buffer_text(buffer, "12345");
}

static void printf_five(struct buffer *buffer)
{
    buffer_printf(buffer, "%d", 12345);
}

static void reserve_five(struct buffer *buffer)
{
    char *room = buffer_reserve(buffer, 5);

    if (room) {
        memcpy(room, "12345", 5);
        buffer->length += 5;
    }
}

static void (*const fives[])(struct buffer *buffer) = {
    add_five,
    text_five,
    printf_five,
    reserve_five,
};

START_TEST(the_length_may_reach_the_limit)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(8);
    struct error err;

    buffer_text(&buffer, "abc");
    fives[_i](&buffer);
    ck_assert(buffer_ok(&buffer, &err));
    ck_assert_str_eq(buffer_str(&buffer), "abc12345");
}
END_TEST

START_TEST(what_goes_over_the_limit_is_not_added_at_all)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(7);
    struct error err = {0};

    buffer_text(&buffer, "abc");
    fives[_i](&buffer);
    ck_assert_str_eq(buffer_str(&buffer), "abc");
    ck_assert_uint_eq(buffer.length, 3);
    ck_assert(!buffer_ok(&buffer, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, "longer than 7 bytes");
}
END_TEST

START_TEST(nothing_is_added_after_a_failure)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(9);
    struct error err = {0};

    buffer_text(&buffer, "abc");
    buffer_text(&buffer, "too long");
    fives[_i](&buffer);
    ck_assert_str_eq(buffer_str(&buffer), "abc");
    ck_assert(!buffer_ok(&buffer, &err));
}
END_TEST

START_TEST(a_buffer_without_a_limit_takes_nothing)
{
    CLEANUP(buffer_done) struct buffer buffer = {0};
    struct error err = {0};

    fives[_i](&buffer);
    ck_assert_uint_eq(buffer.length, 0);
    ck_assert(!buffer_ok(&buffer, &err));
}
END_TEST

START_TEST(out_of_memory_is_told_from_over_the_limit)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(SIZE_MAX);
    struct error err = {0};

    buffer_text(&buffer, "abc");
    ck_assert_ptr_null(buffer_reserve(&buffer, SIZE_MAX - 3));
    ck_assert(!buffer_ok(&buffer, &err));
    ck_assert_int_eq(err.code, TH_E_NO_MEMORY);
    ck_assert_str_eq(buffer_str(&buffer), "abc");
}
END_TEST

START_TEST(a_reservation_that_is_used_in_part_ends_in_a_nul)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(100);

    buffer_text(&buffer, "something that is longer than what follows");
    buffer_clear(&buffer);
    char *room = buffer_reserve(&buffer, 50);
    ck_assert_ptr_nonnull(room);
    memcpy(room, "part", 4);
    buffer.length += 4;
    ck_assert_str_eq(buffer_str(&buffer), "part");
}
END_TEST

START_TEST(clear_forgets_bytes_and_failure_but_keeps_memory)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(5);
    struct error err = {0};

    buffer_text(&buffer, "12345");
    buffer_char(&buffer, '6');
    char *const memory = buffer.data;
    buffer_clear(&buffer);
    ck_assert_str_eq(buffer_str(&buffer), "");
    buffer_text(&buffer, "again");
    ck_assert(buffer_ok(&buffer, &err));
    ck_assert_str_eq(buffer_str(&buffer), "again");
    ck_assert_ptr_eq(buffer.data, memory);
}
END_TEST

START_TEST(a_buffer_can_be_used_again_once_done)
{
    struct buffer buffer = BUFFER(5);

    buffer_done(&buffer);
    buffer_text(&buffer, "first");
    buffer_char(&buffer, '!');
    buffer_done(&buffer);
    ck_assert_str_eq(buffer_str(&buffer), "");
    buffer_text(&buffer, "again");
    ck_assert_str_eq(buffer_str(&buffer), "again");
    buffer_done(&buffer);
}
END_TEST

static const struct {
    const char *rule;
    const char *word, *quoted;
} words[] = {
    {"a word stays", "/srv/jobs.yaml", "/srv/jobs.yaml"},
    {"a space is quoted", "my jobs.yaml", "'my jobs.yaml'"},
    {"a quote ends and begins quotes", "it's", "'it'\\''s'"},
    {"a dollar means nothing", "$HOME", "'$HOME'"},
    {"nothing is a word", "", "''"},
};

START_TEST(a_word_comes_back_from_a_shell)
{
    struct buffer buffer = BUFFER(100);

    buffer_shell_word(&buffer, words[_i].word);
    ck_assert_msg(strcmp(buffer_str(&buffer), words[_i].quoted) == 0, "%s: %s", words[_i].rule,
                  buffer_str(&buffer));
    buffer_done(&buffer);
}
END_TEST

Suite *buffer_suite(void)
{
    Suite *suite = suite_create("base/buffer");
    TCase *growth = pure_case("growth");
    TCase *limit = pure_case("limit");

    tcase_add_test(growth, an_empty_buffer_reads_as_empty_text);
    tcase_add_test(growth, additions_stand_one_behind_the_other);
    tcase_add_test(growth, nuls_are_bytes_like_others);
    tcase_add_test(growth, it_ends_in_a_nul_after_every_addition);
    tcase_add_test(growth, a_formatted_text_of_any_length_arrives_whole);
    tcase_add_test(growth, a_reservation_that_is_used_in_part_ends_in_a_nul);
    tcase_add_test(growth, clear_forgets_bytes_and_failure_but_keeps_memory);
    tcase_add_test(growth, a_buffer_can_be_used_again_once_done);
    tcase_add_loop_test(growth, a_word_comes_back_from_a_shell, 0, COUNT_OF(words));
    suite_add_tcase(suite, growth);

    tcase_add_loop_test(limit, the_length_may_reach_the_limit, 0, COUNT_OF(fives));
    tcase_add_loop_test(limit, what_goes_over_the_limit_is_not_added_at_all, 0, COUNT_OF(fives));
    tcase_add_loop_test(limit, nothing_is_added_after_a_failure, 0, COUNT_OF(fives));
    tcase_add_loop_test(limit, a_buffer_without_a_limit_takes_nothing, 0, COUNT_OF(fives));
    tcase_add_test(limit, out_of_memory_is_told_from_over_the_limit);
    suite_add_tcase(suite, limit);
    return suite;
}
