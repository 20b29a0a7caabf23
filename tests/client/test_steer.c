/*
 * test_steer.c - th_cancel(), th_retry(), th_run(), th_remove(), th_pause() and th_resume().
 */
#include "base/cleanup.h"
#include "scene.h"
#include "suites.h"

#include <string.h>

#define NOBODY "0193f0a2-7c1d-7abc-8def-0123456789ab"

static enum th_state state_of(struct scene *scene, const char *id)
{
    struct th_job_info *job = scene_get(scene, id);
    enum th_state state = job->state;

    th_job_info_free(job);
    return state;
}

START_TEST(a_waiting_job_is_cancelled_at_once)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");

    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    ck_assert_int_eq(state_of(&scene, id), TH_STATE_CANCELLED);
}
END_TEST

START_TEST(a_running_job_is_asked_to_stop)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");

    scene_start_next(&scene, -1, NULL);
    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    struct th_job_info *job = scene_get(&scene, id);

    ck_assert_int_eq(job->state, TH_STATE_RUNNING);
    ck_assert_int_gt(job->cancel_requested_at, 0);
    th_job_info_free(job);
}
END_TEST

START_TEST(an_ended_job_cannot_be_cancelled)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");

    scene_run_next(&scene, SETTLE_ACK, NULL);
    ck_assert(!th_cancel(scene.client, id, &scene.failure));
    scene_assert_failure(&scene, TH_E_CONFLICT, "job 0");
    ck_assert_ptr_nonnull(strstr(scene.failure.text, "has ended"));
}
END_TEST

START_TEST(a_dead_job_waits_again_with_its_counts_cleared)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");

    scene_run_next(&scene, SETTLE_FAIL, "broken");
    scene_assert_worked(&scene, th_retry(scene.client, id, 0, &scene.failure));
    struct th_job_info *job = scene_get(&scene, id);

    ck_assert_int_eq(job->state, TH_STATE_READY);
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_ptr_null(job->last_error);
    ck_assert_ptr_null(job->reason);
    ck_assert_uint_eq(job->run_count, 1);
    th_job_info_free(job);
}
END_TEST

START_TEST(a_cancelled_job_waits_again_for_its_time)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    th_usec later = th_now(scene.client) + TH_SECONDS(3600);

    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    scene_assert_worked(&scene, th_retry(scene.client, id, later, &scene.failure));
    ck_assert_int_eq(state_of(&scene, id), TH_STATE_SCHEDULED);
}
END_TEST

START_TEST(a_waiting_job_is_not_revived)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");

    ck_assert(!th_retry(scene.client, id, 0, &scene.failure));
    scene_assert_failure(&scene, TH_E_CONFLICT, "job 0");
    ck_assert_ptr_nonnull(strstr(scene.failure.text, "neither dead nor cancelled"));
}
END_TEST

START_TEST(a_scheduled_job_can_run_now)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    th_usec later = th_now(scene.client) + TH_SECONDS(3600);

    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    scene_assert_worked(&scene, th_retry(scene.client, id, later, &scene.failure));
    scene_assert_worked(&scene, th_run(scene.client, id, &scene.failure));
    ck_assert_int_eq(state_of(&scene, id), TH_STATE_READY);
    scene_assert_worked(&scene, th_run(scene.client, id, &scene.failure));
    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    ck_assert(!th_run(scene.client, id, &scene.failure));
    scene_assert_failure(&scene, TH_E_CONFLICT, "job 0");
    ck_assert_ptr_nonnull(strstr(scene.failure.text, "or has ended"));
}
END_TEST

START_TEST(a_moment_that_is_none_is_refused)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    const char *id = scene_enqueue(&scene, "x");

    ck_assert(!th_retry(scene.client, id, _i == 0 ? -1 : TH_FOREVER, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "run_at is out of range");
}
END_TEST

START_TEST(only_an_ended_job_is_removed)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    struct th_job_info *job;

    ck_assert(!th_remove(scene.client, id, &scene.failure));
    scene_assert_failure(&scene, TH_E_CONFLICT, "job 0");
    ck_assert_ptr_nonnull(strstr(scene.failure.text, "has not ended"));

    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    scene_assert_worked(&scene, th_remove(scene.client, id, &scene.failure));
    ck_assert(!th_get(scene.client, id, &job, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "");
}
END_TEST

START_TEST(an_id_that_no_job_has_is_not_found)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);

    ck_assert(!th_cancel(scene.client, NOBODY, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "there is no job " NOBODY);
    ck_assert(!th_retry(scene.client, NOBODY, 0, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "there is no job " NOBODY);
    ck_assert(!th_run(scene.client, NOBODY, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "there is no job " NOBODY);
    ck_assert(!th_remove(scene.client, NOBODY, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "there is no job " NOBODY);
}
END_TEST

static th_usec paused_at(struct scene *scene)
{
    struct th_stats *stats;

    scene_assert_worked(scene, th_stats(scene->client, &stats, &scene->failure));
    ck_assert_uint_eq(stats->count, 1);
    ck_assert_str_eq(stats->queues[0]->queue, "mail");
    th_usec moment = stats->queues[0]->paused_at;
    th_stats_free(stats);
    return moment;
}

START_TEST(a_queue_is_paused_until_it_is_resumed)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);

    for (int i = 0; i < 2; i++)
        scene_assert_worked(&scene, th_pause(scene.client, "mail", &scene.failure));
    ck_assert_int_gt(paused_at(&scene), 0);
    for (int i = 0; i < 2; i++)
        scene_assert_worked(&scene, th_resume(scene.client, "mail", &scene.failure));
    ck_assert_int_eq(paused_at(&scene), 0);
}
END_TEST

static const struct {
    const char *queue;
    const char *text;
} bad_queues[] = {
    {NULL, "queue is NULL"}, {"", "queue: '' is not a name"}, {"a b", "queue: 'a b' is"}};

START_TEST(a_queue_that_has_no_name_is_refused)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);

    ck_assert(!th_pause(scene.client, bad_queues[_i].queue, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, bad_queues[_i].text);
    ck_assert(!th_resume(scene.client, bad_queues[_i].queue, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, bad_queues[_i].text);
}
END_TEST

Suite *steer_suite(void)
{
    Suite *suite = suite_create("client/steer");
    TCase *jobs = tcase_create("jobs");

    tcase_add_loop_test(jobs, a_waiting_job_is_cancelled_at_once, 0, SCENE_BACKENDS);
    tcase_add_test(jobs, a_running_job_is_asked_to_stop);
    tcase_add_test(jobs, an_ended_job_cannot_be_cancelled);
    tcase_add_test(jobs, a_dead_job_waits_again_with_its_counts_cleared);
    tcase_add_loop_test(jobs, a_cancelled_job_waits_again_for_its_time, 0, SCENE_BACKENDS);
    tcase_add_loop_test(jobs, a_waiting_job_is_not_revived, 0, SCENE_BACKENDS);
    tcase_add_loop_test(jobs, a_scheduled_job_can_run_now, 0, SCENE_BACKENDS);
    tcase_add_loop_test(jobs, a_moment_that_is_none_is_refused, 0, 2);
    tcase_add_loop_test(jobs, only_an_ended_job_is_removed, 0, SCENE_BACKENDS);
    tcase_add_loop_test(jobs, an_id_that_no_job_has_is_not_found, 0, SCENE_BACKENDS);
    suite_add_tcase(suite, jobs);

    TCase *queues = tcase_create("queues");

    tcase_add_loop_test(queues, a_queue_is_paused_until_it_is_resumed, 0, SCENE_BACKENDS);
    tcase_add_loop_test(queues, a_queue_that_has_no_name_is_refused, 0, (int)COUNT_OF(bad_queues));
    suite_add_tcase(suite, queues);
    return suite;
}
