/*
 * test_run_now.c - jobs that wait for a time, and need not any more.
 */
#include "bring.h"
#include "contract.h"

static const enum job_state hastened[] = {JOB_SCHEDULED, JOB_RETRY};

START_TEST(run_now_makes_a_waiting_job_ready_and_keeps_its_counts)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list before = {0};
    CLEANUP(job_list_done) struct job_list after = {0};
    struct brought waiting = bring(&scene, hastened[_i]);
    const struct job *was = scene_get(&scene, &waiting.id, &before);

    ASSERT_VERDICT(scene_run_now(&scene, &waiting.id, NOW + 5), TH_OK);
    const struct job *job = scene_get(&scene, &waiting.id, &after);
    ck_assert_int_eq(job->state, JOB_READY);
    ASSERT_TIME(job->due, NOW + 5);
    ASSERT_TIME(job->run_at, 0);
    ck_assert_int_eq(job->attempts, was->attempts);
    ck_assert_int_eq(job->stalls, was->stalls);
    ck_assert_int_eq(job->executions, was->executions);
    ck_assert_pstr_eq(job->last_error, was->last_error);
    ASSERT_TIME(job->failed_at, was->failed_at);
    struct claim claim = scene_take(&scene, NOW + 5);
    ASSERT_SAME_ID(&claim.id, &waiting.id);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW + 6);
    ASSERT_STATE(&scene, &waiting.id, JOB_DONE);
}
END_TEST

START_TEST(run_now_queues_a_job_behind_those_that_are_due)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job later = scene_job(&scene);

    later.run_at = LATER;
    struct uuid hurried = scene_enqueue(&scene, later, NOW).id;
    struct uuid first = scene_add(&scene);
    ASSERT_VERDICT(scene_run_now(&scene, &hurried, NOW + 1), TH_OK);
    struct claim claim = scene_take(&scene, NOW + 1);
    ASSERT_SAME_ID(&claim.id, &first);
    claim = scene_take(&scene, NOW + 1);
    ASSERT_SAME_ID(&claim.id, &hurried);
}
END_TEST

START_TEST(run_now_keeps_the_key_of_a_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job keyed = scene_job(&scene), second;

    keyed.key = "key";
    keyed.run_at = LATER;
    second = scene_job(&scene);
    second.key = "key";
    struct uuid id = scene_enqueue(&scene, keyed, NOW).id;
    ASSERT_VERDICT(scene_run_now(&scene, &id, NOW), TH_OK);
    struct enqueued enqueued = scene_enqueue(&scene, second, NOW);
    ck_assert(enqueued.updated);
    ASSERT_SAME_ID(&enqueued.id, &id);
}
END_TEST

START_TEST(run_now_of_a_job_that_is_not_there_does_not_spoil_the_others)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought waiting = bring(&scene, JOB_SCHEDULED), dead = bring(&scene, JOB_DEAD);
    struct uuid ids[] = {uuid_make(&scene.ids, NOW), dead.id, waiting.id};
    enum th_error_code verdicts[COUNT_OF(ids)];
    struct error err = {0};

    MUST(store_run_now(scene.store, ids, COUNT_OF(ids), NOW, verdicts, &err));
    ASSERT_VERDICT(verdicts[0], TH_E_NOT_FOUND);
    ASSERT_VERDICT(verdicts[1], TH_E_CONFLICT);
    ASSERT_VERDICT(verdicts[2], TH_OK);
    ASSERT_STATE(&scene, &waiting.id, JOB_READY);
    ASSERT_STATE(&scene, &dead.id, JOB_DEAD);
}
END_TEST

Suite *run_now_suite(void)
{
    Suite *suite = suite_create("run_now");
    TCase *group = contract_group(suite, "run_now");

    tcase_add_loop_test(group, run_now_makes_a_waiting_job_ready_and_keeps_its_counts, 0,
                        COUNT_OF(hastened));
    tcase_add_test(group, run_now_queues_a_job_behind_those_that_are_due);
    tcase_add_test(group, run_now_keeps_the_key_of_a_job);
    tcase_add_test(group, run_now_of_a_job_that_is_not_there_does_not_spoil_the_others);
    return suite;
}
