/*
 * test_dead.c - a job that failed for good, and its way back.
 */
#include "bring.h"
#include "contract.h"
#include "refusal.h"

#include <string.h>

START_TEST(fail_moves_to_dlq_not_reservable)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_FAIL, NOW);
    ASSERT_STATE(&scene, &id, JOB_DEAD);
    usec_t much_later = NOW + 365 * USEC_PER_DAY;
    ck_assert_uint_eq(scene_promote(&scene, JOB_RETRY, much_later), 0);
    ck_assert_uint_eq(scene_promote(&scene, JOB_SCHEDULED, much_later), 0);
    ck_assert_uint_eq(scene_reclaim(&scene, much_later), 0);
    scene_take_nothing(&scene, much_later);
}
END_TEST

START_TEST(fail_again_with_the_same_token_is_a_success_single_entry)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_FAIL, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    scene_finish(&scene, &claim, SETTLE_FAIL, claim.expires_at + 1);
    assert_unchanged(&scene, &id, before);
    ck_assert_uint_eq(scene_count(&scene), 1);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_DEAD], 1);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 1);
}
END_TEST

START_TEST(fail_on_a_done_job_is_not_running)
{
    assert_refused(SETTLE_FAIL, AFTER_DONE);
}
END_TEST

START_TEST(fail_wrong_token)
{
    assert_refused(SETTLE_FAIL, WRONG_TOKEN);
}
END_TEST

START_TEST(fail_expired)
{
    assert_refused(SETTLE_FAIL, EXPIRED);
}
END_TEST

START_TEST(fail_not_inflight)
{
    assert_refused(SETTLE_FAIL, NOT_INFLIGHT);
}
END_TEST

START_TEST(fail_unknown_id)
{
    assert_refused(SETTLE_FAIL, UNKNOWN_ID);
}
END_TEST

/* Extend is in test_extend.c. */
START_TEST(expired_takes_precedence_over_mismatch)
{
    assert_refused((enum settlement_kind)_i, EXPIRED_AND_WRONG_TOKEN);
}
END_TEST

START_TEST(fail_persists_final_attempts_last_error_reason_kind_time)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.attempts = 3;
    job.max_attempts = 4;
    scene_enqueue(&scene, job, NOW);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement fail = claim_settlement(&claim, SETTLE_FAIL);
    fail.reason = (enum job_reason)_i;
    fail.error = "out of luck";
    fail.has_run = true;
    fail.run = (struct job_run){.execution = 1, .outcome = RUN_DEAD, .exit_code = 65};
    ASSERT_VERDICT(scene_settle(&scene, &fail, NOW + 9), TH_OK);

    const struct job *dead = scene_get(&scene, &job.id, &list);
    ck_assert_int_eq(dead->state, JOB_DEAD);
    ck_assert_int_eq(dead->attempts, 4);
    ck_assert_str_eq(dead->last_error, "out of luck");
    ck_assert_int_eq((int)dead->reason, _i);
    ck_assert_int_eq(dead->exit_code, 65);
    ASSERT_TIME(dead->failed_at, NOW + 9);
    ASSERT_TIME(dead->ended_at, NOW + 9);
    ASSERT_TIME(dead->expires_at, 0);
    ck_assert_uint_eq(dead->run_count, 1);
    ck_assert_int_eq(dead->runs[0].outcome, RUN_DEAD);
}
END_TEST

/* A job for the dying one to leave behind. Points into the scene. */
static struct job on_dead_job(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.type = "alert";
    job.payload = (struct bytes){(const unsigned char *)"[\"id\",null,\"it broke\"]", 22};
    return job;
}

START_TEST(fail_inserts_on_failure_job_in_same_transaction)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct job alert = on_dead_job(&scene);
    struct settlement fail = claim_settlement(&claim, SETTLE_FAIL);

    fail.on_dead = &alert;
    ASSERT_VERDICT(scene_settle(&scene, &fail, NOW + 1), TH_OK);
    ASSERT_STATE(&scene, &id, JOB_DEAD);
    const struct job *stored = scene_get(&scene, &alert.id, &list);
    ck_assert_int_eq(stored->state, JOB_READY);
    ck_assert_str_eq(stored->type, "alert");
    ck_assert_uint_eq(stored->payload.length, 22);
    ASSERT_TIME(stored->created_at, NOW + 1);
    struct claim taken = scene_take(&scene, NOW + 1);
    ASSERT_SAME_ID(&taken.id, &alert.id);
}
END_TEST

/* Without it jobs that die of each other would do so for ever. */
START_TEST(fail_inserts_on_failure_job_that_keeps_its_depth)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    CLEANUP(job_list_done) struct job_list taken = {0};
    CLEANUP(job_list_done) struct job_list held = {0};
    struct error err;

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct job alert = on_dead_job(&scene);
    struct settlement fail = claim_settlement(&claim, SETTLE_FAIL);
    alert.on_dead_depth = JOB_ON_DEAD_MAX;
    fail.on_dead = &alert;
    ASSERT_VERDICT(scene_settle(&scene, &fail, NOW), TH_OK);
    ck_assert_int_eq(scene_get(&scene, &alert.id, &list)->on_dead_depth, JOB_ON_DEAD_MAX);
    struct reservation wanted = scene_wants(&scene, 1);
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_int_eq(taken.items[0].on_dead_depth, JOB_ON_DEAD_MAX);
    MUST(store_held(scene.store, POOL, &held, &err));
    for (size_t i = 0; i < held.count; i++)
        if (uuid_compare(&held.items[i].id, &alert.id) == 0)
            ck_assert_int_eq(held.items[i].on_dead_depth, JOB_ON_DEAD_MAX);
}
END_TEST

START_TEST(fail_inserts_every_on_failure_job_whose_idempotency_key_is_blank)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct claim claim = scene_take_this(&scene, &ids[i], NOW);
        struct job alert = on_dead_job(&scene);
        struct settlement fail = claim_settlement(&claim, SETTLE_FAIL);
        alert.idempotency_key = " ";
        alert.idempotency_expires = LATER;
        fail.on_dead = &alert;
        ASSERT_VERDICT(scene_settle(&scene, &fail, NOW), TH_OK);
        ck_assert(scene_has(&scene, &alert.id));
    }
}
END_TEST

START_TEST(fail_that_is_refused_inserts_no_on_failure_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct job alert = on_dead_job(&scene);
    struct settlement fail = claim_settlement(&claim, SETTLE_FAIL);
    fail.on_dead = &alert;
    ASSERT_VERDICT(scene_settle(&scene, &fail, claim.expires_at), TH_E_LEASE_EXPIRED);
    fail.token.bytes[0] ^= 1;
    ASSERT_VERDICT(scene_settle(&scene, &fail, NOW), TH_E_LEASE_MISMATCH);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

START_TEST(fail_that_is_repeated_inserts_the_on_failure_job_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement fail = claim_settlement(&claim, SETTLE_FAIL);
    for (int i = 0; i < 2; i++) {
        struct job alert = on_dead_job(&scene); /* each time with a new id */
        fail.on_dead = &alert;
        ASSERT_VERDICT(scene_settle(&scene, &fail, NOW), TH_OK);
    }
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

START_TEST(fail_without_on_failure_keeps_job_in_dlq)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_FAIL, NOW);
    ASSERT_STATE(&scene, &id, JOB_DEAD);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

static const enum job_state revivable[] = {JOB_DEAD, JOB_CANCELLED};

START_TEST(requeue_to_ready)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct brought ended = bring(&scene, revivable[_i]);

    ASSERT_VERDICT(scene_requeue(&scene, &ended.id, 0, NOW + 5), TH_OK);
    const struct job *job = scene_get(&scene, &ended.id, &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ASSERT_TIME(job->due, NOW + 5);
    ASSERT_TIME(job->ended_at, 0);
    ASSERT_TIME(job->cancel_requested_at, 0);
    struct claim claim = scene_take(&scene, NOW + 5);
    ASSERT_SAME_ID(&claim.id, &ended.id);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW + 6);
    ASSERT_STATE(&scene, &ended.id, JOB_DONE);
}
END_TEST

START_TEST(requeue_to_scheduled)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct brought ended = bring(&scene, revivable[_i]);

    ASSERT_VERDICT(scene_requeue(&scene, &ended.id, LATER, NOW + 5), TH_OK);
    const struct job *job = scene_get(&scene, &ended.id, &list);
    ck_assert_int_eq(job->state, JOB_SCHEDULED);
    ASSERT_TIME(job->run_at, LATER);
    ASSERT_TIME(job->due, LATER);
    ck_assert_uint_eq(scene_promote(&scene, JOB_SCHEDULED, LATER), 1);
    struct claim claim = scene_take(&scene, LATER);
    ASSERT_SAME_ID(&claim.id, &ended.id);
}
END_TEST

/* One lost lease, then an end with its run. */
static void stall_then_end(struct scene *scene, enum settlement_kind kind)
{
    struct claim lost = scene_take(scene, NOW);
    struct claim claim = scene_take(scene, lost.expires_at);
    struct settlement end = claim_settlement(&claim, kind);

    end.has_run = true;
    end.run =
        (struct job_run){.execution = 2, .outcome = settlement_run_outcome(kind), .exit_code = 1};
    ASSERT_VERDICT(scene_settle(scene, &end, lost.expires_at), TH_OK);
}

static const enum settlement_kind revivable_ends[] = {SETTLE_FAIL, SETTLE_CANCEL};

START_TEST(requeue_clears_attempts_stalls_and_errors_and_keeps_executions_and_runs)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list before = {0};
    CLEANUP(job_list_done) struct job_list after = {0};
    struct uuid id = scene_add(&scene);

    stall_then_end(&scene, revivable_ends[_i]);
    const struct job *dead = scene_get(&scene, &id, &before);
    ck_assert_int_eq(dead->attempts, revivable_ends[_i] == SETTLE_FAIL ? 1 : 0);
    ck_assert_int_eq(dead->stalls, 1);
    ck_assert_uint_eq(dead->run_count, 2);

    ASSERT_VERDICT(scene_requeue(&scene, &id, 0, NOW + LEASE), TH_OK);
    const struct job *job = scene_get(&scene, &id, &after);
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_ptr_null(job->last_error);
    ASSERT_TIME(job->failed_at, 0);
    ck_assert_int_eq(job->reason, REASON_NONE);
    ck_assert_int_eq(job->exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(job->signal, 0);
    ck_assert_int_eq(job->executions, 2);
    ck_assert_uint_eq(job->run_count, dead->run_count);
}
END_TEST

START_TEST(the_token_of_a_job_that_was_requeued_is_dead)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought dead = bring(&scene, JOB_DEAD);
    struct settlement fail = claim_settlement(&dead.claim, SETTLE_FAIL);

    ASSERT_VERDICT(scene_requeue(&scene, &dead.id, 0, NOW), TH_OK);
    AUTO_FREE char *before = scene_snapshot(&scene, &dead.id);
    ASSERT_VERDICT(scene_settle(&scene, &fail, NOW), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &dead.id, before);
}
END_TEST

static const enum job_state not_revivable[] = {JOB_SCHEDULED, JOB_READY, JOB_BLOCKED,
                                               JOB_RUNNING,   JOB_RETRY, JOB_DONE};

START_TEST(requeue_not_dlq)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought brought = bring(&scene, not_revivable[_i]);
    AUTO_FREE char *before = scene_snapshot(&scene, &brought.id);

    ASSERT_VERDICT(scene_requeue(&scene, &brought.id, 0, NOW), TH_E_CONFLICT);
    assert_unchanged(&scene, &brought.id, before);
}
END_TEST

START_TEST(requeue_not_found_does_not_spoil_the_others)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought first = bring(&scene, JOB_DEAD), last = bring(&scene, JOB_DEAD);
    const struct uuid ids[] = {first.id, uuid_make(&scene.ids, NOW), last.id};
    enum th_error_code verdicts[3];
    struct error err = {0};

    MUST(store_requeue(scene.store, ids, 3, 0, NOW, verdicts, &err));
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_E_NOT_FOUND);
    ASSERT_VERDICT(verdicts[2], TH_OK);
    ASSERT_STATE(&scene, &first.id, JOB_READY);
    ASSERT_STATE(&scene, &last.id, JOB_READY);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

static const enum job_state ended[] = {JOB_DONE, JOB_DEAD, JOB_CANCELLED};

START_TEST(dlq_delete_one)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought removed = bring(&scene, ended[_i]), kept = bring(&scene, ended[_i]);
    AUTO_FREE char *before = scene_snapshot(&scene, &kept.id);

    ASSERT_VERDICT(scene_remove(&scene, &removed.id), TH_OK);
    ck_assert(!scene_has(&scene, &removed.id));
    assert_unchanged(&scene, &kept.id, before);
    ASSERT_VERDICT(scene_remove(&scene, &removed.id), TH_E_NOT_FOUND);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

static const enum job_state not_ended[] = {JOB_SCHEDULED, JOB_READY, JOB_BLOCKED, JOB_RUNNING,
                                           JOB_RETRY};

START_TEST(delete_not_dlq_rejected)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought brought = bring(&scene, not_ended[_i]);
    AUTO_FREE char *before = scene_snapshot(&scene, &brought.id);

    ASSERT_VERDICT(scene_remove(&scene, &brought.id), TH_E_CONFLICT);
    assert_unchanged(&scene, &brought.id, before);
}
END_TEST

Suite *dead_suite(void)
{
    Suite *suite = suite_create("dead");
    TCase *fail = contract_group(suite, "fail");
    TCase *back = contract_group(suite, "back");

    tcase_add_test(fail, fail_moves_to_dlq_not_reservable);
    tcase_add_test(fail, fail_again_with_the_same_token_is_a_success_single_entry);
    tcase_add_test(fail, fail_on_a_done_job_is_not_running);
    tcase_add_test(fail, fail_wrong_token);
    tcase_add_test(fail, fail_expired);
    tcase_add_test(fail, fail_not_inflight);
    tcase_add_test(fail, fail_unknown_id);
    tcase_add_loop_test(fail, expired_takes_precedence_over_mismatch, SETTLE_ACK,
                        SETTLE_CANCEL + 1);
    tcase_add_loop_test(fail, fail_persists_final_attempts_last_error_reason_kind_time,
                        REASON_EXHAUSTED, REASON_CANNOT_START + 1);
    tcase_add_test(fail, fail_inserts_on_failure_job_in_same_transaction);
    tcase_add_test(fail, fail_inserts_on_failure_job_that_keeps_its_depth);
    tcase_add_test(fail, fail_inserts_every_on_failure_job_whose_idempotency_key_is_blank);
    tcase_add_test(fail, fail_that_is_refused_inserts_no_on_failure_job);
    tcase_add_test(fail, fail_that_is_repeated_inserts_the_on_failure_job_once);
    tcase_add_test(fail, fail_without_on_failure_keeps_job_in_dlq);

    tcase_add_loop_test(back, requeue_to_ready, 0, COUNT_OF(revivable));
    tcase_add_loop_test(back, requeue_to_scheduled, 0, COUNT_OF(revivable));
    tcase_add_loop_test(back,
                        requeue_clears_attempts_stalls_and_errors_and_keeps_executions_and_runs, 0,
                        COUNT_OF(revivable_ends));
    tcase_add_test(back, the_token_of_a_job_that_was_requeued_is_dead);
    tcase_add_loop_test(back, requeue_not_dlq, 0, COUNT_OF(not_revivable));
    tcase_add_test(back, requeue_not_found_does_not_spoil_the_others);
    tcase_add_loop_test(back, dlq_delete_one, 0, COUNT_OF(ended));
    tcase_add_loop_test(back, delete_not_dlq_rejected, 0, COUNT_OF(not_ended));
    return suite;
}
