/*
 * test_job.c - what a job starts with, how it is listed, which limits hold.
 */
#include "cases.h"
#include "job/job.h"
#include "suites.h"

#include <check.h>
#include <signal.h>

START_TEST(a_job_starts_with_the_documented_defaults)
{
    const struct job job = job_defaults();

    ck_assert(uuid_is_nil(&job.id));
    ck_assert_ptr_null(job.type);
    ck_assert_str_eq(job.queue, "default");
    ck_assert_int_eq((int)job.encoding, JOB_JSON);
    ck_assert_uint_eq(job.payload.length, 4);
    ck_assert_mem_eq(job.payload.data, "null", 4);
    ck_assert_int_eq(job.priority, 5);
    ck_assert_int_eq(job.run_at, 0);
    ck_assert_int_eq(job.timeout, 0);
    ck_assert_int_eq(job.max_attempts, 0);
    ck_assert_int_eq(job.max_stalls, 0);
    ck_assert_ptr_null(job.key);
    ck_assert_ptr_null(job.idempotency_key);
    ck_assert(job.update.payload && job.update.retry && !job.update.reset_counts);
    ck_assert_int_eq((int)job.update.run_at, UPDATE_RUN_AT_ALWAYS);
    ck_assert_int_eq(job.progress_percent, -1);
    ck_assert_int_eq(job.exit_code, JOB_NO_EXIT_CODE);
}
END_TEST

START_TEST(a_list_grows_and_keeps_its_jobs)
{
    struct job_list list = {0};

    for (int i = 0; i < 100; i++) {
        struct job *job = job_list_add(&list);
        ck_assert_ptr_nonnull(job);
        ck_assert_ptr_eq(job, &list.items[i]);
        job->priority = i;
    }
    ck_assert_uint_eq(list.count, 100);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(list.items[i].priority, i);
    job_list_done(&list);
}
END_TEST

START_TEST(a_job_in_a_list_is_zeroed_but_for_what_says_none)
{
    struct job_list list = {0};

    for (int i = 0; i < 20; i++) {
        struct job *job = job_list_add(&list);
        ck_assert_ptr_nonnull(job);
        ck_assert(uuid_is_nil(&job->id));
        ck_assert_ptr_null(job->type);
        ck_assert_ptr_null(job->payload.data);
        ck_assert_ptr_null(job->last_error);
        ck_assert_ptr_null(job->runs);
        ck_assert_ptr_null(job->defect);
        ck_assert_int_eq((int)job->state, 0);
        ck_assert_int_eq(job->executions, 0);
        ck_assert_int_eq(job->ref, 0);
        ck_assert_int_eq(job->progress_percent, -1);
        ck_assert_int_eq(job->exit_code, JOB_NO_EXIT_CODE);
    }
    job_list_done(&list);
}
END_TEST

START_TEST(a_list_that_is_done_is_empty_and_can_be_used_again)
{
    struct job_list list = {0};

    ck_assert_ptr_nonnull(job_list_add(&list));
    list.items[0].type = arena_text(&list.arena, "email:send");
    job_list_done(&list);
    ck_assert_ptr_null(list.items);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_uint_eq(list.capacity, 0);
    ck_assert_ptr_nonnull(job_list_add(&list));
    job_list_done(&list);
    job_list_done(&list);
}
END_TEST

static const struct {
    const char *rule;
    int own, handler, fallback, expected;
} limits[] = {
    {"the job's own value wins", 1, 2, 3, 1},
    {"else the handler's", 0, 2, 3, 2},
    {"else the default", 0, 0, 3, 3},
    {"the job's own beats the default", 1, 0, 3, 1},
    {"also when it is the largest", 9, 2, 3, 9},
};

START_TEST(a_limit_is_the_jobs_the_handlers_or_the_default)
{
    const struct job job = {.timeout = limits[_i].own,
                            .max_attempts = 10 * limits[_i].own,
                            .max_stalls = 100 * limits[_i].own};
    const struct job_limits handler = {limits[_i].handler, 10 * limits[_i].handler,
                                       100 * limits[_i].handler};
    const struct job_limits defaults = {limits[_i].fallback, 10 * limits[_i].fallback,
                                        100 * limits[_i].fallback};
    const struct job_limits resolved = job_limits_resolve(&job, &handler, &defaults);

    ck_assert_msg(resolved.timeout == limits[_i].expected, "timeout: %s", limits[_i].rule);
    ck_assert_msg(resolved.max_attempts == 10 * limits[_i].expected, "max_attempts: %s",
                  limits[_i].rule);
    ck_assert_msg(resolved.max_stalls == 100 * limits[_i].expected, "max_stalls: %s",
                  limits[_i].rule);
}
END_TEST

START_TEST(each_limit_is_resolved_by_itself)
{
    const struct job job = {.timeout = 1};
    const struct job_limits handler = {.max_attempts = 2};
    const struct job_limits resolved = job_limits_resolve(&job, &handler, &job_limits_default);

    ck_assert_int_eq(resolved.timeout, 1);
    ck_assert_int_eq(resolved.max_attempts, 2);
    ck_assert_int_eq(resolved.max_stalls, 3);
}
END_TEST

START_TEST(without_a_handler_the_defaults_hold)
{
    const struct job job = {.max_attempts = 7};
    const struct job_limits resolved = job_limits_resolve(&job, NULL, &job_limits_default);

    ck_assert_int_eq(resolved.timeout, 5 * USEC_PER_MIN);
    ck_assert_int_eq(resolved.max_attempts, 7);
    ck_assert_int_eq(resolved.max_stalls, 3);
}
END_TEST

START_TEST(the_default_limits_are_the_documented_ones)
{
    ck_assert_int_eq(job_limits_default.timeout, 5 * USEC_PER_MIN);
    ck_assert_int_eq(job_limits_default.max_attempts, 4);
    ck_assert_int_eq(job_limits_default.max_stalls, 3);
}
END_TEST

START_TEST(encodings_keep_their_numbers_and_words)
{
    ck_assert_str_eq(job_encoding_name((enum job_encoding)0), "json");
    ck_assert_str_eq(job_encoding_name((enum job_encoding)1), "raw");
}
END_TEST

static const char *const reasons[] = {NULL,         "exhausted",       "permanent",   "stalled",
                                      "no_handler", "invalid_payload", "cannot_start"};

START_TEST(reasons_keep_their_numbers_and_words)
{
    ck_assert_pstr_eq(job_reason_name((enum job_reason)_i), reasons[_i]);
}
END_TEST

static const char *const outcomes[] = {"done",    "retry",     "dead",   "released",
                                       "snoozed", "cancelled", "stalled"};

START_TEST(run_outcomes_keep_their_numbers_and_words)
{
    ck_assert_pstr_eq(run_outcome_name((enum run_outcome)_i), outcomes[_i]);
}
END_TEST

START_TEST(a_reason_of_no_known_kind_ends_the_process)
{
    job_reason_name((enum job_reason)COUNT_OF(reasons));
}
END_TEST

static TCase *list_case(void)
{
    TCase *list = tcase_create("list");

    tcase_add_test(list, a_job_starts_with_the_documented_defaults);
    tcase_add_test(list, a_list_grows_and_keeps_its_jobs);
    tcase_add_test(list, a_job_in_a_list_is_zeroed_but_for_what_says_none);
    tcase_add_test(list, a_list_that_is_done_is_empty_and_can_be_used_again);
    return list;
}

static TCase *limits_case(void)
{
    TCase *limit = tcase_create("limits");

    tcase_add_loop_test(limit, a_limit_is_the_jobs_the_handlers_or_the_default, 0,
                        COUNT_OF(limits));
    tcase_add_test(limit, each_limit_is_resolved_by_itself);
    tcase_add_test(limit, without_a_handler_the_defaults_hold);
    tcase_add_test(limit, the_default_limits_are_the_documented_ones);
    return limit;
}

static TCase *words_case(void)
{
    TCase *words = tcase_create("words");

    tcase_add_test(words, encodings_keep_their_numbers_and_words);
    tcase_add_loop_test(words, reasons_keep_their_numbers_and_words, 0, COUNT_OF(reasons));
    tcase_add_loop_test(words, run_outcomes_keep_their_numbers_and_words, 0, COUNT_OF(outcomes));
    tcase_add_test_raise_signal(words, a_reason_of_no_known_kind_ends_the_process, SIGABRT);
    return words;
}

Suite *job_suite(void)
{
    Suite *suite = suite_create("job/job");

    suite_add_tcase(suite, job_validate_case());
    suite_add_tcase(suite, list_case());
    suite_add_tcase(suite, limits_case());
    suite_add_tcase(suite, words_case());
    return suite;
}
