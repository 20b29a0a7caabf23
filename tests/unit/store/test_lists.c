#include "store/driver.h"

#include "suites.h"

START_TEST(of_more_runs_than_are_kept_the_oldest_goes)
{
    struct arena arena = {0};
    struct job job = {0};

    for (int64_t i = 1; i <= JOB_RUNS_KEPT + 2; i++) {
        struct job_run *run = job_run_add(&job, &arena);
        ck_assert_ptr_nonnull(run);
        ck_assert_int_eq(run->execution, 0);
        run->execution = i;
    }
    ck_assert_uint_eq(job.run_count, JOB_RUNS_KEPT);
    for (size_t i = 0; i < job.run_count; i++)
        ck_assert_int_eq(job.runs[i].execution, (int64_t)i + 3);
    arena_done(&arena);
}
END_TEST

Suite *lists_suite(void)
{
    Suite *suite = suite_create("store/lists");
    TCase *all = pure_case("lists");

    tcase_add_test(all, of_more_runs_than_are_kept_the_oldest_goes);
    suite_add_tcase(suite, all);
    return suite;
}
