/*
 * test_error.c - a code to branch on, a text to show.
 */
#include "base/error.h"
#include "suites.h"

#include <errno.h>
#include <string.h>

/* Of a character that is repeated. */
static const char *long_text(char *text, size_t length, char c)
{
    memset(text, c, length);
    text[length] = '\0';
    return text;
}

START_TEST(set_has_code_and_text_and_is_false)
{
    struct error err = {0};

    ck_assert(!error_set(&err, TH_E_CONFLICT, "job %d is %s", 7, "running"));
    ck_assert_int_eq(err.code, TH_E_CONFLICT);
    ck_assert_str_eq(err.text, "job 7 is running");
}
END_TEST

START_TEST(errno_is_explained_behind_the_text)
{
    struct error err = {0};

    ck_assert(!error_errno(&err, TH_E_UNAVAILABLE, ENOENT, "open %s", "jobs.db"));
    ck_assert_int_eq(err.code, TH_E_UNAVAILABLE);
    ck_assert_str_eq(err.text, "open jobs.db: No such file or directory");
}
END_TEST

START_TEST(an_errno_nobody_knows_keeps_its_number)
{
    struct error err = {0};

    error_errno(&err, TH_E_INTERNAL, 4242, "call");
    ck_assert_str_eq(err.text, "call: Unknown error 4242");
}
END_TEST

START_TEST(a_long_text_does_not_hide_what_errno_means)
{
    struct error err = {0};
    char path[2001];

    error_errno(&err, TH_E_INVALID, EACCES, "open %s", long_text(path, 2000, 'p'));
    ck_assert_ptr_nonnull(strstr(err.text, "ppp...: Permission denied"));
}
END_TEST

START_TEST(text_grows_from_the_inside_out)
{
    struct error err = {0};

    error_set(&err, TH_E_UNCERTAIN, "disk is full");
    ck_assert(!error_prefix(&err, "sqlite"));
    ck_assert(!error_prefix(&err, "settle %zu jobs", (size_t)12));
    ck_assert_str_eq(err.text, "settle 12 jobs: sqlite: disk is full");
    ck_assert_int_eq(err.code, TH_E_UNCERTAIN);
}
END_TEST

/* One less than fits, as much as fits, one more, and much more. */
static const size_t lengths[] = {ERROR_TEXT_SIZE - 2, ERROR_TEXT_SIZE - 1, ERROR_TEXT_SIZE,
                                 (size_t)ERROR_TEXT_SIZE * 3};

START_TEST(only_a_text_too_long_ends_in_dots)
{
    struct error err = {0};
    char text[ERROR_TEXT_SIZE * 3 + 1];
    const size_t length = lengths[_i];

    error_set(&err, TH_E_INVALID, "%s", long_text(text, length, 'x'));
    if (length < ERROR_TEXT_SIZE) {
        ck_assert_str_eq(err.text, text);
    } else {
        ck_assert_uint_eq(strlen(err.text), ERROR_TEXT_SIZE - 1);
        ck_assert_str_eq(err.text + ERROR_TEXT_SIZE - 5, "x...");
    }
}
END_TEST

START_TEST(a_prefix_cuts_the_end_of_what_it_is_put_before)
{
    struct error err = {0};
    char text[ERROR_TEXT_SIZE];

    error_set(&err, TH_E_INVALID, "inner %s", long_text(text, ERROR_TEXT_SIZE - 10, 'x'));
    error_prefix(&err, "outer");
    ck_assert_int_eq(strncmp(err.text, "outer: inner xxx", 16), 0);
    ck_assert_uint_eq(strlen(err.text), ERROR_TEXT_SIZE - 1);
    ck_assert_str_eq(err.text + ERROR_TEXT_SIZE - 5, "x...");
}
END_TEST

/* The prefix and ": " are ten characters. */
START_TEST(only_a_text_too_long_with_its_prefix_ends_in_dots)
{
    struct error err = {0};
    char text[ERROR_TEXT_SIZE];
    const size_t length = ERROR_TEXT_SIZE - 12 + (size_t)_i;

    error_set(&err, TH_E_INVALID, "%s", long_text(text, length, 'x'));
    error_prefix(&err, "exchange");
    ck_assert_uint_eq(strlen(err.text),
                      length + 10 < ERROR_TEXT_SIZE ? length + 10 : ERROR_TEXT_SIZE - 1);
    ck_assert_int_eq(strspn(err.text + 10, "x") == length, length + 10 < ERROR_TEXT_SIZE);
}
END_TEST

START_TEST(a_prefix_too_long_leaves_the_start_of_what_it_is_put_before)
{
    struct error err = {0};
    char text[2001];

    error_set(&err, TH_E_INVALID, "inner");
    error_prefix(&err, "%s", long_text(text, 2000, 'o'));
    ck_assert_ptr_nonnull(strstr(err.text, "ooo...: inner"));
}
END_TEST

START_TEST(a_text_may_be_made_of_the_one_before)
{
    struct error err = {0};

    error_set(&err, TH_E_INVALID, "old");
    error_set(&err, TH_E_INVALID, "new of %s", err.text);
    ck_assert_str_eq(err.text, "new of old");
    error_prefix(&err, "%s", err.text);
    ck_assert_str_eq(err.text, "new of old: new of old");
}
END_TEST

/* The loop moves the cut through all bytes of a character. */
START_TEST(a_cut_leaves_no_half_of_a_character)
{
    struct error err = {0};
    char text[ERROR_TEXT_SIZE + 10];

    long_text(text, ERROR_TEXT_SIZE - 10 + (size_t)_i, 'x');
    for (int i = 0; i < 4; i++)
        memcpy(text + strlen(text), "\xE2\x82\xAC", sizeof("\xE2\x82\xAC"));
    error_set(&err, TH_E_INVALID, "%s", text);

    const size_t kept = strlen(err.text) - 3;
    ck_assert_str_eq(err.text + kept, "...");
    ck_assert_uint_gt(kept, ERROR_TEXT_SIZE - 8);
    ck_assert_uint_eq((kept - strspn(err.text, "x")) % 3, 0);
}
END_TEST

START_TEST(no_memory_has_its_own_code)
{
    struct error err = {0};

    ck_assert(!error_no_memory(&err));
    ck_assert_int_eq(err.code, TH_E_NO_MEMORY);
    ck_assert_str_eq(err.text, "out of memory");
}
END_TEST

static const struct {
    enum th_error_code code;
    const char *name;
} names[] = {
    {TH_OK, "ok"},
    {TH_E_INVALID, "invalid"},
    {TH_E_UNAVAILABLE, "unavailable"},
    {TH_E_UNCERTAIN, "uncertain"},
    {TH_E_NOT_FOUND, "not_found"},
    {TH_E_NOT_RUNNING, "not_running"},
    {TH_E_LEASE_EXPIRED, "lease_expired"},
    {TH_E_LEASE_MISMATCH, "lease_mismatch"},
    {TH_E_CONFLICT, "conflict"},
    {TH_E_SCHEMA, "schema"},
    {TH_E_NO_MEMORY, "no_memory"},
    {TH_E_INTERNAL, "internal"},
    {(enum th_error_code)99, "unknown"},
};

START_TEST(every_code_has_its_word)
{
    ck_assert_str_eq(error_code_name(names[_i].code), names[_i].name);
}
END_TEST

Suite *error_suite(void)
{
    Suite *suite = suite_create("base/error");
    TCase *text = tcase_create("text");
    TCase *cut = tcase_create("cut");

    tcase_add_test(text, set_has_code_and_text_and_is_false);
    tcase_add_test(text, errno_is_explained_behind_the_text);
    tcase_add_test(text, an_errno_nobody_knows_keeps_its_number);
    tcase_add_test(text, text_grows_from_the_inside_out);
    tcase_add_test(text, a_text_may_be_made_of_the_one_before);
    tcase_add_test(text, no_memory_has_its_own_code);
    tcase_add_loop_test(text, every_code_has_its_word, 0, COUNT_OF(names));
    suite_add_tcase(suite, text);

    tcase_add_loop_test(cut, only_a_text_too_long_ends_in_dots, 0, COUNT_OF(lengths));
    tcase_add_test(cut, a_long_text_does_not_hide_what_errno_means);
    tcase_add_test(cut, a_prefix_cuts_the_end_of_what_it_is_put_before);
    tcase_add_loop_test(cut, only_a_text_too_long_with_its_prefix_ends_in_dots, 0, 4);
    tcase_add_test(cut, a_prefix_too_long_leaves_the_start_of_what_it_is_put_before);
    tcase_add_loop_test(cut, a_cut_leaves_no_half_of_a_character, 0, 3);
    suite_add_tcase(suite, cut);
    return suite;
}
