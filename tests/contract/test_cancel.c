/*
 * test_cancel.c - waiting jobs are cancelled at once, running ones are asked.
 *
 * How a running job that was asked ends is in test_held.c.
 */
#include "bring.h"
#include "contract.h"

#include <string.h>

static const enum job_state waiting[] = {JOB_SCHEDULED, JOB_READY, JOB_RETRY, JOB_BLOCKED};

START_TEST(cancel_waiting_and_blocked_true)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct brought brought = bring(&scene, waiting[_i]);

    ASSERT_VERDICT(scene_cancel(&scene, &brought.id, NOW + 5), TH_OK);
    const struct job *job = scene_get(&scene, &brought.id, &list);
    ck_assert_int_eq(job->state, JOB_CANCELLED);
    ASSERT_TIME(job->ended_at, NOW + 5);
    ck_assert(uuid_is_nil(&job->merged_into));
    scene_promote(&scene, JOB_SCHEDULED, LATER);
    scene_promote(&scene, JOB_RETRY, LATER);
    ASSERT_STATE(&scene, &brought.id, JOB_CANCELLED);
    if (waiting[_i] != JOB_BLOCKED)
        scene_take_nothing(&scene, LATER);
}
END_TEST

START_TEST(cancel_unknown_false)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid unknown = uuid_make(&scene.ids, NOW);

    ASSERT_VERDICT(scene_cancel(&scene, &unknown, NOW), TH_E_NOT_FOUND);
    ck_assert(!scene_has(&scene, &unknown));
}
END_TEST

static const enum job_state ended[] = {JOB_DONE, JOB_DEAD, JOB_CANCELLED};

START_TEST(cancel_done_false)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought brought = bring(&scene, ended[_i]);
    AUTO_FREE char *before = scene_snapshot(&scene, &brought.id);

    ASSERT_VERDICT(scene_cancel(&scene, &brought.id, NOW + 5), TH_E_CONFLICT);
    assert_unchanged(&scene, &brought.id, before);
}
END_TEST

START_TEST(cancel_of_several_answers_each)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought done = bring(&scene, JOB_DONE), ready = bring(&scene, JOB_READY);
    struct brought running = bring(&scene, JOB_RUNNING);
    const struct uuid ids[] = {done.id, ready.id, uuid_make(&scene.ids, NOW), running.id};
    enum th_error_code verdicts[4];
    struct error err = {0};

    MUST(store_cancel(scene.store, ids, 4, NOW, verdicts, &err));
    ASSERT_VERDICT(verdicts[0], TH_E_CONFLICT);
    ASSERT_VERDICT(verdicts[1], TH_OK);
    ASSERT_VERDICT(verdicts[2], TH_E_NOT_FOUND);
    ASSERT_VERDICT(verdicts[3], TH_OK);
    ASSERT_STATE(&scene, &done.id, JOB_DONE);
    ASSERT_STATE(&scene, &ready.id, JOB_CANCELLED);
    ASSERT_STATE(&scene, &running.id, JOB_RUNNING);
}
END_TEST

static struct lease_answer extend(struct scene *scene, const struct claim *claim, usec_t now)
{
    const struct lease_beat lease = {.job = claim->id,
                                     .queue = claim->queue,
                                     .token = claim->token,
                                     .ref = claim->ref,
                                     .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer = {.verdict = TH_E_INTERNAL};
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene->store, &heartbeat, 1, now, &answer, &told, &err));
    return answer;
}

START_TEST(cancel_inflight_sets_request_seen_by_extend)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct brought running = bring(&scene, JOB_RUNNING), other = bring(&scene, JOB_RUNNING);

    ck_assert(!extend(&scene, &running.claim, NOW + 1).cancel_requested);
    ASSERT_VERDICT(scene_cancel(&scene, &running.id, NOW + 5), TH_OK);
    const struct job *job = scene_get(&scene, &running.id, &list);
    ck_assert_int_eq(job->state, JOB_RUNNING);
    ASSERT_TIME(job->cancel_requested_at, NOW + 5);

    /* The lease stays: the run has to be stopped before anybody else may have the job. */
    struct lease_answer answer = extend(&scene, &running.claim, NOW + 6);
    ASSERT_VERDICT(answer.verdict, TH_OK);
    ck_assert(answer.cancel_requested);
    ck_assert(!extend(&scene, &other.claim, NOW + 6).cancel_requested);
    ASSERT_VERDICT(scene_cancel(&scene, &running.id, NOW + 7), TH_OK);
}
END_TEST

START_TEST(cancel_frees_the_key)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought brought = bring(&scene, waiting[_i]);
    struct job job = bring_twin(&scene, &brought);

    ASSERT_VERDICT(scene_cancel(&scene, &brought.id, NOW), TH_OK);
    struct enqueued enqueued = scene_enqueue(&scene, job, NOW);
    ck_assert(!enqueued.updated && !enqueued.existed);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    ck_assert_int_eq(enqueued.state, waiting[_i] == JOB_BLOCKED ? JOB_BLOCKED : JOB_READY);
}
END_TEST

Suite *cancel_suite(void)
{
    Suite *suite = suite_create("cancel");
    TCase *group = contract_group(suite, "cancel");

    tcase_add_loop_test(group, cancel_waiting_and_blocked_true, 0, COUNT_OF(waiting));
    tcase_add_test(group, cancel_unknown_false);
    tcase_add_loop_test(group, cancel_done_false, 0, COUNT_OF(ended));
    tcase_add_test(group, cancel_of_several_answers_each);
    tcase_add_test(group, cancel_inflight_sets_request_seen_by_extend);
    tcase_add_loop_test(group, cancel_frees_the_key, 0, COUNT_OF(waiting));
    return suite;
}
