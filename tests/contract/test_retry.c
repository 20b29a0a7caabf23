/*
 * test_retry.c - a failed job waits and comes again.
 */
#include "contract.h"
#include "refusal.h"

#include <signal.h>
#include <string.h>

static struct settlement retry_with_everything(const struct claim *claim)
{
    struct settlement retry = claim_settlement(claim, SETTLE_RETRY);

    retry.error = "connection refused \xe2\x80\x93 again";
    retry.run_at = LATER + 1;
    retry.output = (struct bytes){(const unsigned char *)"trying\n", 7};
    retry.has_run = true;
    retry.run = (struct job_run){
        .execution = claim->executions,
        .pool = POOL,
        .worker = 2,
        .started_at = NOW,
        .wall = SECONDS(1),
        .outcome = RUN_RETRY,
        .exit_code = 17,
        .error = retry.error,
    };
    return retry;
}

START_TEST(retry_persists_metadata_and_respects_run_at)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement retry = retry_with_everything(&claim);

    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW + 3), TH_OK);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_RETRY);
    ck_assert_int_eq(job->attempts, 1);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_str_eq(job->last_error, retry.error);
    ASSERT_TIME(job->failed_at, NOW + 3);
    ASSERT_TIME(job->run_at, LATER + 1);
    ASSERT_TIME(job->due, LATER + 1);
    ASSERT_TIME(job->ended_at, 0);
    ck_assert_int_eq(job->reason, REASON_NONE);
    ck_assert_int_eq(job->exit_code, 17);
    ck_assert_mem_eq(job->output.data, "trying\n", 7);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].outcome, RUN_RETRY);
    ck_assert_int_eq(job->runs[0].exit_code, 17);
    ck_assert_str_eq(job->runs[0].error, retry.error);

    ck_assert_uint_eq(scene_promote(&scene, JOB_RETRY, LATER), 0);
    scene_take_nothing(&scene, LATER);
    ck_assert_uint_eq(scene_promote(&scene, JOB_RETRY, LATER + 1), 1);
    ck_assert_int_eq(scene_take(&scene, LATER + 1).executions, 2);
}
END_TEST

START_TEST(retry_keeps_the_newest_failure)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim first = scene_take(&scene, NOW);
    struct settlement exited = retry_with_everything(&first);

    ASSERT_VERDICT(scene_settle(&scene, &exited, NOW), TH_OK);
    scene_promote(&scene, JOB_RETRY, LATER + 1);
    struct claim second = scene_take(&scene, LATER + 1);
    struct settlement killed = retry_with_everything(&second);
    killed.error = killed.run.error = "killed by SIGSEGV";
    killed.run.exit_code = JOB_NO_EXIT_CODE;
    killed.run.signal = SIGSEGV;
    ASSERT_VERDICT(scene_settle(&scene, &killed, LATER + 2), TH_OK);

    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->attempts, 2);
    ck_assert_str_eq(job->last_error, "killed by SIGSEGV");
    ASSERT_TIME(job->failed_at, LATER + 2);
    ck_assert_int_eq(job->exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(job->signal, SIGSEGV);
    ck_assert_uint_eq(job->run_count, 2);
    ck_assert_int_eq(job->runs[0].execution, 1);
    ck_assert_int_eq(job->runs[1].execution, 2);
    ck_assert_int_eq(job->runs[1].signal, SIGSEGV);
}
END_TEST

START_TEST(runs_are_the_newest_ten)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);

    for (int i = 0; i < JOB_RUNS_KEPT + 3; i++) {
        struct claim claim = scene_take(&scene, NOW);
        struct settlement release = claim_settlement(&claim, SETTLE_RELEASE);
        release.has_run = true;
        release.run.execution = claim.executions;
        release.run.outcome = RUN_RELEASED;
        ASSERT_VERDICT(scene_settle(&scene, &release, NOW), TH_OK);
    }
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_uint_eq(job->run_count, JOB_RUNS_KEPT);
    for (size_t i = 0; i < job->run_count; i++)
        ck_assert_int_eq(job->runs[i].execution, (int64_t)i + 4);
}
END_TEST

START_TEST(retry_zero_run_at_is_immediate)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement retry = claim_settlement(&claim, SETTLE_RETRY);

    retry.run_at = 0;
    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW + 1), TH_OK);
    scene_promote(&scene, JOB_RETRY, NOW + 1);
    struct claim again = scene_take(&scene, NOW + 1);
    ASSERT_SAME_ID(&again.id, &id);
    ck_assert_int_eq(again.executions, 2);
}
END_TEST

START_TEST(retry_wrong_token)
{
    assert_refused(SETTLE_RETRY, WRONG_TOKEN);
}
END_TEST

START_TEST(retry_expired)
{
    assert_refused(SETTLE_RETRY, EXPIRED);
}
END_TEST

START_TEST(retry_not_inflight)
{
    assert_refused(SETTLE_RETRY, NOT_INFLIGHT);
}
END_TEST

START_TEST(retry_unknown_id)
{
    assert_refused(SETTLE_RETRY, UNKNOWN_ID);
}
END_TEST

START_TEST(retry_after_done)
{
    assert_refused(SETTLE_RETRY, AFTER_DONE);
}
END_TEST

START_TEST(retry_after_dlq)
{
    assert_refused(SETTLE_RETRY, AFTER_DEAD);
}
END_TEST

/* The lost answer of a retry is not asked for again: whoever repeats it lets go of the job. */
START_TEST(retry_again_with_the_same_token_is_not_running_and_not_counted)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement retry = claim_settlement(&claim, SETTLE_RETRY);

    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW), TH_OK);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(retry_clears_lease_and_owner)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    CLEANUP(job_list_done) struct job_list held = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct error err = {0};

    scene_finish(&scene, &claim, SETTLE_RETRY, NOW);
    ASSERT_TIME(scene_get(&scene, &id, &list)->expires_at, 0);
    MUST(store_held(scene.store, POOL, &held, &err));
    for (size_t i = 0; i < held.count; i++)
        ck_assert_int_ne(uuid_compare(&held.items[i].id, &id), 0);
}
END_TEST

START_TEST(retry_is_driver_dumb_no_limit_check)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.max_attempts = 1;
    scene_enqueue(&scene, job, NOW);
    for (usec_t now = NOW; now < NOW + 5; now++) {
        struct claim claim = scene_take(&scene, now);
        struct settlement retry = claim_settlement(&claim, SETTLE_RETRY);
        retry.run_at = now + 1;
        ASSERT_VERDICT(scene_settle(&scene, &retry, now), TH_OK);
        ASSERT_STATE(&scene, &job.id, JOB_RETRY);
        ck_assert_uint_eq(scene_promote(&scene, JOB_RETRY, now + 1), 1);
    }
    ck_assert_int_eq(scene_get(&scene, &job.id, &list)->attempts, 5);
}
END_TEST

START_TEST(retry_counts_only_what_it_is_told_to_count)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement retry = claim_settlement(&claim, SETTLE_RETRY);

    retry.counts = false;
    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW), TH_OK);
    ck_assert_int_eq(scene_get(&scene, &id, &list)->attempts, 0);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 0);
}
END_TEST

START_TEST(retry_increments_failed_counter_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement retry = claim_settlement(&claim, SETTLE_RETRY);
    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW), TH_OK);
    ASSERT_VERDICT(scene_settle(&scene, &retry, NOW), TH_E_NOT_RUNNING);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 1);
    ck_assert_int_eq(scene_stats(&scene).done_total, 0);
}
END_TEST

Suite *retry_suite(void)
{
    Suite *suite = suite_create("retry");
    TCase *group = contract_group(suite, "retry");

    tcase_add_test(group, retry_persists_metadata_and_respects_run_at);
    tcase_add_test(group, retry_keeps_the_newest_failure);
    tcase_add_test(group, runs_are_the_newest_ten);
    tcase_add_test(group, retry_zero_run_at_is_immediate);
    tcase_add_test(group, retry_wrong_token);
    tcase_add_test(group, retry_expired);
    tcase_add_test(group, retry_not_inflight);
    tcase_add_test(group, retry_unknown_id);
    tcase_add_test(group, retry_after_done);
    tcase_add_test(group, retry_after_dlq);
    tcase_add_test(group, retry_again_with_the_same_token_is_not_running_and_not_counted);
    tcase_add_test(group, retry_clears_lease_and_owner);
    tcase_add_test(group, retry_is_driver_dumb_no_limit_check);
    tcase_add_test(group, retry_counts_only_what_it_is_told_to_count);
    tcase_add_test(group, retry_increments_failed_counter_once);
    return suite;
}
