#include "dispatcher/starts.h"

#include "job/aside.h"
#include "suites.h"

#include <check.h>

#define NOW ((usec_t)1800000000 * USEC_PER_SEC)

static void fail_first(struct start *start, usec_t now)
{
    ck_assert(starts_note_failure(start, false, "no such program", now));
}

START_TEST(a_handler_that_never_failed_is_started)
{
    struct start start = {0};

    ck_assert_int_eq(starts_ask(&start, NOW, NOW), START_GO);
}
END_TEST

START_TEST(after_a_failure_jobs_wait_for_the_probe)
{
    struct start start = {0};

    fail_first(&start, NOW);
    ck_assert_int_eq(starts_ask(&start, NOW, NOW), START_WAIT);
    ck_assert_int_eq(starts_next_probe(&start), NOW + USEC_PER_SEC);
    ck_assert_str_eq(start.error, "no such program");
}
END_TEST

START_TEST(one_probe_goes_and_the_others_wait)
{
    struct start start = {0};
    const usec_t later = NOW + USEC_PER_SEC;

    fail_first(&start, NOW);
    ck_assert_int_eq(starts_ask(&start, NOW, later), START_PROBE);
    ck_assert_int_eq(starts_ask(&start, NOW, later), START_WAIT);
    ck_assert_int_eq(starts_next_probe(&start), 0);
}
END_TEST

START_TEST(each_failed_probe_doubles_the_delay_up_to_five_minutes)
{
    struct start start = {0};
    usec_t now = NOW, expected = USEC_PER_SEC;

    fail_first(&start, now);
    for (int i = 0; i < 12; i++) {
        now = start.probe_at;
        ck_assert_int_eq(starts_ask(&start, now, now), START_PROBE);
        expected = 2 * expected < 5 * USEC_PER_MIN ? 2 * expected : 5 * USEC_PER_MIN;
        ck_assert(!starts_note_failure(&start, true, "still none", now));
        ck_assert_int_eq(starts_next_probe(&start), now + expected);
    }
    ck_assert_int_eq(expected, 5 * USEC_PER_MIN);
}
END_TEST

START_TEST(others_that_failed_at_the_same_time_do_not_lengthen_the_delay)
{
    struct start start = {0};

    fail_first(&start, NOW);
    for (int i = 0; i < 8; i++)
        starts_note_failure(&start, false, NULL, NOW + i);
    ck_assert_int_eq(start.delay, USEC_PER_SEC);
}
END_TEST

START_TEST(a_start_that_works_ends_the_wait)
{
    struct start start = {0};

    fail_first(&start, NOW);
    ck_assert(starts_note_success(&start));
    ck_assert(!starts_note_success(&start));
    ck_assert_int_eq(starts_ask(&start, NOW, NOW), START_GO);
}
END_TEST

START_TEST(a_probe_that_did_not_try_lets_another_one_go)
{
    struct start start = {0};
    const usec_t later = NOW + USEC_PER_SEC;

    fail_first(&start, NOW);
    ck_assert_int_eq(starts_ask(&start, NOW, later), START_PROBE);
    starts_forget_probe(&start);
    ck_assert_int_eq(starts_ask(&start, NOW, later), START_PROBE);
}
END_TEST

START_TEST(a_job_that_has_waited_for_a_day_is_given_up)
{
    struct start start = {0};
    const usec_t day_later = NOW + ASIDE_PATIENCE;

    fail_first(&start, NOW);
    ck_assert_int_eq(starts_ask(&start, NOW - 1, day_later), START_GIVE_UP);
    ck_assert_int_eq(starts_ask(&start, NOW - 1, day_later - 1), START_PROBE);
}
END_TEST

START_TEST(a_job_that_came_later_has_its_own_day)
{
    struct start start = {0};
    const usec_t day_later = NOW + ASIDE_PATIENCE;

    fail_first(&start, NOW);
    ck_assert_int_ne(starts_ask(&start, NOW + 1, day_later), START_GIVE_UP);
}
END_TEST

/* ---- what is aside ---- */

START_TEST(all_come_back_to_a_handler_that_works)
{
    struct start start = {0};

    starts_note_success(&start);
    ck_assert_int_eq(starts_fetch(&start, NOW - 5, NOW), FETCH_ALL);
}
END_TEST

START_TEST(one_comes_back_to_a_handler_that_others_could_not_start_and_is_the_probe)
{
    struct start start = {0};

    ck_assert_int_eq(starts_fetch(&start, NOW - 5, NOW), FETCH_ONE);
    ck_assert_int_eq(starts_ask(&start, NOW, NOW), START_PROBE);
    ck_assert_int_eq(starts_ask(&start, NOW, NOW), START_GO);
    ck_assert_int_eq(starts_fetch(&start, NOW - 5, NOW), FETCH_NONE);
    ck_assert(starts_note_success(&start));
    ck_assert_int_eq(starts_fetch(&start, NOW - 5, NOW), FETCH_ALL);
}
END_TEST

START_TEST(a_handler_that_others_could_not_start_fails_since_they_tried)
{
    struct start start = {0};

    starts_fetch(&start, NOW - 5, NOW);
    ck_assert(starts_note_failure(&start, false, "none", NOW));
    ck_assert_int_eq(start.failing_since, NOW - 5);
}
END_TEST

START_TEST(while_it_fails_one_comes_back_when_its_probe_may_go)
{
    struct start start = {0};

    fail_first(&start, NOW);
    ck_assert_int_eq(starts_fetch(&start, NOW, NOW + USEC_PER_SEC - 1), FETCH_NONE);
    ck_assert_int_eq(starts_fetch(&start, NOW, NOW + USEC_PER_SEC), FETCH_ONE);
    starts_ask(&start, NOW, NOW + USEC_PER_SEC);
    ck_assert_int_eq(starts_fetch(&start, NOW, NOW + USEC_PER_SEC), FETCH_NONE);
}
END_TEST

START_TEST(those_that_waited_for_a_day_come_back_to_be_given_up)
{
    struct start start = {0};

    fail_first(&start, NOW - ASIDE_PATIENCE);
    ck_assert_int_eq(starts_fetch(&start, NOW - ASIDE_PATIENCE, NOW), FETCH_OLD);
    ck_assert_int_eq(starts_ask(&start, NOW - ASIDE_PATIENCE, NOW), START_GIVE_UP);
}
END_TEST

Suite *starts_suite(void)
{
    Suite *suite = suite_create("dispatcher/starts");
    TCase *cases = tcase_create("starts");

    tcase_add_test(cases, a_handler_that_never_failed_is_started);
    tcase_add_test(cases, after_a_failure_jobs_wait_for_the_probe);
    tcase_add_test(cases, one_probe_goes_and_the_others_wait);
    tcase_add_test(cases, each_failed_probe_doubles_the_delay_up_to_five_minutes);
    tcase_add_test(cases, others_that_failed_at_the_same_time_do_not_lengthen_the_delay);
    tcase_add_test(cases, a_start_that_works_ends_the_wait);
    tcase_add_test(cases, a_probe_that_did_not_try_lets_another_one_go);
    tcase_add_test(cases, a_job_that_has_waited_for_a_day_is_given_up);
    tcase_add_test(cases, a_job_that_came_later_has_its_own_day);
    tcase_add_test(cases, all_come_back_to_a_handler_that_works);
    tcase_add_test(cases, one_comes_back_to_a_handler_that_others_could_not_start_and_is_the_probe);
    tcase_add_test(cases, a_handler_that_others_could_not_start_fails_since_they_tried);
    tcase_add_test(cases, while_it_fails_one_comes_back_when_its_probe_may_go);
    tcase_add_test(cases, those_that_waited_for_a_day_come_back_to_be_given_up);
    suite_add_tcase(suite, cases);
    return suite;
}
