/*
 * test_speech.c - how many lines of a job the log gets.
 */
#include "suites.h"
#include "worker/speech.h"

#define AT_ONCE    1001 /* the one that fills the bucket is let through */
#define PER_SECOND 100

static usec_t allowed_at;

static void setup(void)
{
    allowed_at = 0;
}

static unsigned count_allowed(unsigned lines, usec_t now)
{
    unsigned allowed = 0;

    for (unsigned i = 0; i < lines; i++)
        allowed += speech_is_allowed(&allowed_at, now);
    return allowed;
}

START_TEST(so_many_lines_pass_at_once_and_so_many_each_second_from_then_on)
{
    const usec_t start = USEC_PER_DAY;

    ck_assert_uint_eq(count_allowed(5000, start), AT_ONCE);
    ck_assert_uint_eq(count_allowed(5000, start), 0);
    ck_assert_uint_eq(count_allowed(5000, start + USEC_PER_SEC), PER_SECOND);
    ck_assert_uint_eq(count_allowed(5000, start + 3 * USEC_PER_SEC), 2 * PER_SECOND);
}
END_TEST

START_TEST(a_job_that_was_silent_for_long_may_say_as_much_as_at_first)
{
    ck_assert_uint_eq(count_allowed(5000, USEC_PER_DAY), AT_ONCE);
    ck_assert_uint_eq(count_allowed(5000, 2 * USEC_PER_DAY), AT_ONCE);
}
END_TEST

Suite *speech_suite(void)
{
    Suite *suite = suite_create("worker/speech");
    TCase *lines = tcase_create("lines");

    tcase_add_checked_fixture(lines, setup, NULL);
    tcase_add_test(lines, so_many_lines_pass_at_once_and_so_many_each_second_from_then_on);
    tcase_add_test(lines, a_job_that_was_silent_for_long_may_say_as_much_as_at_first);
    suite_add_tcase(suite, lines);
    return suite;
}
