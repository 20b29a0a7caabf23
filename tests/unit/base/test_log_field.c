/*
 * test_log_field.c - a format and its arguments as fields.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/log_field.h"
#include "suites.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Texts that are absent are among what is tested. */
#pragma GCC diagnostic ignored "-Wformat-overflow"

static struct log_field field;

/* All fields, written again with the space between them. */
static void join_fields(struct buffer *joined, const char *format, va_list arguments)
{
    struct log_fields fields = {.rest = format};

    va_copy(fields.arguments, arguments);
    while (log_field_read(&fields, &field)) {
        buffer_add(joined, field.key.data, field.key.length);
        buffer_char(joined, '=');
        buffer_add(joined, field.value, field.length);
        if (!field.is_last)
            buffer_char(joined, ' ');
    }
    va_end(fields.arguments);
}

PRINTF_LIKE(1, 2)
static void expect_as_printf(const char *format, ...)
{
    CLEANUP(buffer_done) struct buffer joined = BUFFER(20000);
    char printed[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(printed, sizeof printed, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    join_fields(&joined, format, arguments);
    va_end(arguments);
    ck_assert_str_eq(buffer_str(&joined), printed);
}

PRINTF_LIKE(1, 2)
static void read_only_field(const char *format, ...)
{
    CLEANUP(buffer_done) struct buffer joined = BUFFER(20000);
    va_list arguments;

    va_start(arguments, format);
    join_fields(&joined, format, arguments);
    va_end(arguments);
    ck_assert(field.is_last);
}

START_TEST(integers_of_every_size_print_as_printf_has_them)
{
    expect_as_printf("a=%d b=%i c=%u d=%d", INT_MIN, INT_MAX, UINT_MAX, 0);
    expect_as_printf("a=%ld b=%lu c=%lld d=%llu", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX);
    expect_as_printf("a=%zu b=%zd c=%jd d=%td", SIZE_MAX, (ssize_t)-1, INTMAX_MIN, (ptrdiff_t)-7);
    expect_as_printf("a=%" PRId64 " b=%" PRIu64 " c=%" PRIx64, INT64_MIN, UINT64_MAX, UINT64_MAX);
    expect_as_printf("a=%" PRIu32 " b=%" PRId16 " c=%" PRIu8 " d=%" PRIo32 " e=%" PRIX32,
                     UINT32_MAX, (int16_t)-3, (uint8_t)255, (uint32_t)8, (uint32_t)0xABC);
}
END_TEST

START_TEST(text_prints_as_printf_has_it)
{
    expect_as_printf("a=%s b=%.*s c=%.*s", "one", 2, "two", -1, "three");
    expect_as_printf("a=%.*s b=%c%c c=%d%% d=", 0, "none", 'x', 'y', 50);
    expect_as_printf("state=ready rate=%d/%s", 5, "s");
}
END_TEST

START_TEST(a_value_may_have_anything_in_it)
{
    expect_as_printf("a=%s b=%s", "x y=z\n event=job_done %d", "%s");
}
END_TEST

START_TEST(bytes_without_an_end_are_not_read_beyond_their_length)
{
    const char bytes[3] = {'a', 'b', 'c'};

    expect_as_printf("a=%.*s", 3, bytes);
}
END_TEST

START_TEST(only_a_decimal_number_alone_is_a_number)
{
    read_only_field("a=%d", 1);
    ck_assert_int_eq(field.kind, KIND_NUMBER);
    read_only_field("a=%zu", (size_t)1);
    ck_assert_int_eq(field.kind, KIND_NUMBER);
    read_only_field("a=%d%d", 1, 2);
    ck_assert_int_eq(field.kind, KIND_TEXT);
    read_only_field("a=%d%%", 1);
    ck_assert_int_eq(field.kind, KIND_TEXT);
    read_only_field("a=%x", 1);
    ck_assert_int_eq(field.kind, KIND_TEXT);
    read_only_field("a=5%s", "");
    ck_assert_int_eq(field.kind, KIND_TEXT);
}
END_TEST

START_TEST(null_is_absent)
{
    const char *null = NULL;

    read_only_field("a=%s", null);
    ck_assert_int_eq(field.kind, KIND_ABSENT);
    read_only_field("a=%.*s", 5, null);
    ck_assert_int_eq(field.kind, KIND_ABSENT);
    read_only_field("a=x%s", null);
    ck_assert_int_eq(field.kind, KIND_TEXT);
    ck_assert_int_eq(memcmp(field.value, "x-", field.length), 0);
}
END_TEST

START_TEST(a_value_that_fits_no_line_loses_its_end)
{
    static char long_text[LOG_FIELD_MAX + 10];

    memset(long_text, 'x', sizeof long_text - 1);
    read_only_field("a=%s%s%d", long_text, long_text, 5);
    ck_assert_uint_eq(field.length, LOG_FIELD_MAX);
    ck_assert_int_eq(field.value[LOG_FIELD_MAX - 1], 'x');
}
END_TEST

static const char *const wrong[] = {
    "a=%5d", "a=%ls",    "a=%lc", "a=%l", "a=%f", "a=%.3s", "a=%p",  "a=%",   "a=%n",
    "a=b ",  "a=b  c=d", "text",  "=x",   " a=b", "a b",    "a=1 b", "Key=x",
};

START_TEST(what_is_no_field_ends_the_process)
{
    /* Read from a table, because the compiler would refuse some of them. */
    struct log_fields fields = {.rest = wrong[_i]};

    while (log_field_read(&fields, &field)) {
    }
}
END_TEST

static const struct {
    const char *rule;
    const char *format;
    bool expected;
} keys[] = {
    {"a key is found at the start", "pool=%s", true},
    {"and after others", "job=%s pool=%s", true},
    {"the end of a key is not the key", "old_pool=%s", false},
    {"nor is its beginning", "pools=%d", false},
    {"nor is a value", "what=pool", false},
    {"an event without fields has no keys", "", false},
};

START_TEST(keys_are_found)
{
    ck_assert_msg(log_field_is_in(keys[_i].format, "pool") == keys[_i].expected, "%s",
                  keys[_i].rule);
}
END_TEST

Suite *log_field_suite(void)
{
    Suite *suite = suite_create("base/log_field");
    TCase *read = tcase_create("read");

    tcase_add_test(read, integers_of_every_size_print_as_printf_has_them);
    tcase_add_test(read, text_prints_as_printf_has_it);
    tcase_add_test(read, a_value_may_have_anything_in_it);
    tcase_add_test(read, bytes_without_an_end_are_not_read_beyond_their_length);
    tcase_add_test(read, only_a_decimal_number_alone_is_a_number);
    tcase_add_test(read, null_is_absent);
    tcase_add_test(read, a_value_that_fits_no_line_loses_its_end);
    tcase_add_loop_test_raise_signal(read, what_is_no_field_ends_the_process, SIGABRT, 0,
                                     COUNT_OF(wrong));
    tcase_add_loop_test(read, keys_are_found, 0, COUNT_OF(keys));
    suite_add_tcase(suite, read);
    return suite;
}
