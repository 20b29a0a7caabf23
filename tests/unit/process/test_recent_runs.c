/*
 * test_recent_runs.c - the runs of the last quarter of an hour.
 */
#include "process/recent_runs.h"

#include "suites.h"

#include <stdlib.h>

#define BEGIN (1000 * RECENT_RUNS_SLICE)

static struct recent_runs *new_runs(void)
{
    struct recent_runs *runs = calloc(1, sizeof *runs);

    ck_assert_ptr_nonnull(runs);
    return runs;
}

static void run_at(struct recent_runs *runs, usec_t now)
{
    recent_runs_add(runs, &(struct recent_run){.now = now, .wall = 5, .wait = 3, .is_done = true});
}

static uint64_t done_by(const struct recent_runs *runs, usec_t now)
{
    struct recent_sum sum;
    const bool any = recent_runs_read(runs, now, &sum);

    ck_assert(any == (sum.done > 0));
    ck_assert_uint_eq(log_histogram_count(&sum.run), sum.done);
    return sum.done;
}

START_TEST(runs_count_until_their_slice_is_too_old)
{
    struct recent_runs *runs = new_runs();

    run_at(runs, BEGIN);
    run_at(runs, BEGIN + RECENT_RUNS_SLICE);
    ck_assert_uint_eq(done_by(runs, BEGIN + RECENT_RUNS_SLICE), 2);
    ck_assert_uint_eq(done_by(runs, BEGIN + RECENT_RUNS_SPAN - 1), 2);
    ck_assert_uint_eq(done_by(runs, BEGIN + RECENT_RUNS_SPAN), 1);
    ck_assert_uint_eq(done_by(runs, BEGIN + RECENT_RUNS_SPAN + RECENT_RUNS_SLICE), 0);
    free(runs);
}
END_TEST

START_TEST(a_slice_takes_the_place_of_the_one_that_is_too_old)
{
    struct recent_runs *runs = new_runs();

    for (int i = 0; i < 100; i++)
        run_at(runs, BEGIN + i * RECENT_RUNS_SLICE);
    ck_assert_uint_eq(done_by(runs, BEGIN + 99 * RECENT_RUNS_SLICE), RECENT_RUNS_SLICES);
    free(runs);
}
END_TEST

START_TEST(a_clock_that_is_set_back_brings_nothing_back)
{
    struct recent_runs *runs = new_runs();

    run_at(runs, BEGIN + RECENT_RUNS_SPAN);
    ck_assert_uint_eq(done_by(runs, BEGIN), 0);
    run_at(runs, BEGIN);
    ck_assert_uint_eq(done_by(runs, BEGIN), 1);
    free(runs);
}
END_TEST

START_TEST(what_neither_worked_nor_failed_has_taken_its_time)
{
    struct recent_runs *runs = new_runs();
    struct recent_sum sum;

    recent_runs_add(runs, &(struct recent_run){.now = BEGIN, .wall = 5, .has_failed = true});
    recent_runs_add(runs, &(struct recent_run){.now = BEGIN, .wall = 5});
    ck_assert(recent_runs_read(runs, BEGIN, &sum));
    ck_assert_uint_eq(sum.done, 0);
    ck_assert_uint_eq(sum.failed, 1);
    ck_assert_uint_eq(log_histogram_count(&sum.run), 2);
    ck_assert_uint_eq(log_histogram_count(&sum.wait), 2);
    free(runs);
}
END_TEST

START_TEST(since_is_when_the_oldest_slice_began)
{
    ck_assert_int_eq(recent_runs_since(BEGIN + RECENT_RUNS_SPAN), BEGIN + RECENT_RUNS_SLICE);
    ck_assert_int_eq(recent_runs_since(BEGIN + RECENT_RUNS_SPAN - 1), BEGIN);
}
END_TEST

Suite *recent_runs_suite(void)
{
    Suite *suite = suite_create("process/recent_runs");
    TCase *runs = pure_case("runs");

    tcase_add_test(runs, runs_count_until_their_slice_is_too_old);
    tcase_add_test(runs, a_slice_takes_the_place_of_the_one_that_is_too_old);
    tcase_add_test(runs, a_clock_that_is_set_back_brings_nothing_back);
    tcase_add_test(runs, what_neither_worked_nor_failed_has_taken_its_time);
    tcase_add_test(runs, since_is_when_the_oldest_slice_began);
    suite_add_tcase(suite, runs);
    return suite;
}
