/*
 * test_pulse.c - who owes an answer, and for how long.
 */
#include "master/pulse.h"
#include "suites.h"

#include <check.h>

#define SECONDS(n) ((n)*USEC_PER_SEC)
#define START      SECONDS(1000)

START_TEST(one_that_owes_nothing_is_asked)
{
    struct pulse_watch watch = {0};

    ck_assert_int_eq(pulse_judge(&watch, true, false, START), PULSE_ASK);
    ck_assert_int_eq(pulse_judge(&watch, true, false, START + SECONDS(10)), PULSE_WAIT);
    watch.asked_at = 0; /* it has answered */
    ck_assert_int_eq(pulse_judge(&watch, true, false, START + SECONDS(500)), PULSE_ASK);
}
END_TEST

START_TEST(one_that_is_silent_for_a_minute_hangs)
{
    struct pulse_watch watch = {.asked_at = START};

    ck_assert_int_eq(pulse_judge(&watch, true, false, START + SECONDS(60) - 1), PULSE_WAIT);
    ck_assert_int_eq(pulse_judge(&watch, true, false, START + SECONDS(60)), PULSE_KILL);
}
END_TEST

START_TEST(one_that_is_starting_has_more_time)
{
    struct pulse_watch watch = {.asked_at = START};

    ck_assert_int_eq(pulse_judge(&watch, false, false, START + SECONDS(599)), PULSE_WAIT);
    ck_assert_int_eq(pulse_judge(&watch, false, false, START + SECONDS(600)), PULSE_KILL);
}
END_TEST

START_TEST(one_that_cannot_answer_is_not_blamed_for_the_time_that_it_could_not)
{
    struct pulse_watch watch = {.asked_at = START};

    ck_assert_int_eq(pulse_judge(&watch, true, true, START + SECONDS(3000)), PULSE_WAIT);
    ck_assert_int_eq(pulse_judge(&watch, true, false, START + SECONDS(3059)), PULSE_WAIT);
    ck_assert_int_eq(pulse_judge(&watch, true, false, START + SECONDS(3060)), PULSE_KILL);
}
END_TEST

Suite *pulse_suite(void)
{
    Suite *suite = suite_create("master/pulse");
    TCase *cases = tcase_create("pulse");

    tcase_add_test(cases, one_that_owes_nothing_is_asked);
    tcase_add_test(cases, one_that_is_silent_for_a_minute_hangs);
    tcase_add_test(cases, one_that_is_starting_has_more_time);
    tcase_add_test(cases, one_that_cannot_answer_is_not_blamed_for_the_time_that_it_could_not);
    suite_add_tcase(suite, cases);
    return suite;
}
