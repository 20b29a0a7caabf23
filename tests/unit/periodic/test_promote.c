/*
 * test_promote.c - one pass of scheduler and retrier, and when the next one is.
 */
#include "periodic/promote.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "periodic/scene.h"
#include "suites.h"

#define S(n)  ((n)*USEC_PER_SEC)
#define MS(n) ((n)*USEC_PER_MSEC)
#define NOW   S(1893553445) /* on the database's clock */
#define BOOT  S(1234)       /* the same moment on ours */

static const struct {
    const char *rule;
    usec_t next_due;
    usec_t wake_at;
} moments[] = {
    {"it wakes when the next job is due", NOW + MS(400), BOOT + MS(400)},
    {"to the microsecond", NOW + 123456, BOOT + 123456},
    {"but within a second: somebody may enqueue one", NOW + S(3600), BOOT + S(1)},
    {"also if nothing waits", 0, BOOT + S(1)},
    {"and not at once: the clocks have their grain", NOW + 10, BOOT + MS(1)},
    {"not even for what is due", NOW - S(5), BOOT + MS(1)},
};

START_TEST(the_next_look_is_when_something_is_due)
{
    const usec_t wake_at = promote_wake_at(moments[_i].next_due, NOW, BOOT);

    ck_assert_msg(wake_at == moments[_i].wake_at, "%s, not %lld us from now", moments[_i].rule,
                  (long long)(wake_at - BOOT));
}
END_TEST

static usec_t promote(struct scene *scene, enum job_state state)
{
    struct error err;
    usec_t next;

    MUST(promote_pass(scene->store, state, &next, &err));
    return next;
}

START_TEST(what_is_due_becomes_ready_and_the_rest_waits)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const usec_t now = scene_now(&scene);
    const struct uuid due = scene_add(&scene, now - S(1), now - S(9));
    const struct uuid early = scene_add(&scene, now + S(3600), now - S(9));

    ck_assert_str_eq(scene_state(&scene, &due), "scheduled");
    promote(&scene, JOB_SCHEDULED);
    ck_assert_str_eq(scene_state(&scene, &due), "ready");
    ck_assert_str_eq(scene_state(&scene, &early), "scheduled");
}
END_TEST

START_TEST(each_of_the_two_moves_only_its_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const usec_t now = scene_now(&scene);
    const struct uuid failed = scene_add(&scene, 0, now - S(9));

    scene_settle(&scene, scene_take(&scene, LEASE, now - S(9), &jobs), SETTLE_RETRY, now - S(1),
                 now - S(9));
    promote(&scene, JOB_SCHEDULED);
    ck_assert_str_eq(scene_state(&scene, &failed), "retry");
    promote(&scene, JOB_RETRY);
    ck_assert_str_eq(scene_state(&scene, &failed), "ready");
}
END_TEST

START_TEST(a_pass_sleeps_until_the_next_job_is_due)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const usec_t before = clock_boot();

    scene_add(&scene, scene_now(&scene) + MS(700), scene_now(&scene));
    const usec_t next = promote(&scene, JOB_SCHEDULED);
    ck_assert_int_le(next, clock_boot() + MS(700));
    ck_assert_int_le(before + MS(1), next);
}
END_TEST

static void add_many(struct scene *scene, size_t count, usec_t run_at, usec_t now)
{
    AUTO_FREE struct job *jobs = calloc(count, sizeof *jobs);
    AUTO_FREE struct enqueued *enqueued = calloc(count, sizeof *enqueued);
    struct error err;

    for (size_t i = 0; i < count; i++) {
        jobs[i] = job_defaults();
        jobs[i].id = uuid_make(&scene->ids, now);
        jobs[i].type = "test:type";
        jobs[i].run_at = run_at;
    }
    MUST(store_enqueue(scene->store, jobs, count, now, enqueued, &err));
}

static int64_t count_ready(struct scene *scene)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    struct error err;

    MUST(store_stats(scene->store, &stats, &err));
    return stats.items[0].jobs[JOB_READY];
}

START_TEST(a_pass_that_has_more_to_do_goes_on_at_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const usec_t now = scene_now(&scene);

    add_many(&scene, 20001, now - S(1), now - S(9));
    ck_assert_int_le(promote(&scene, JOB_SCHEDULED), clock_boot());
    ck_assert_int_eq(count_ready(&scene), 20000);
    ck_assert_int_gt(promote(&scene, JOB_SCHEDULED), clock_boot());
    ck_assert_int_eq(count_ready(&scene), 20001);
}
END_TEST

Suite *promote_suite(void)
{
    Suite *suite = suite_create("periodic/promote");
    TCase *times = tcase_create("times");
    TCase *passes = tcase_create("passes");

    tcase_add_loop_test(times, the_next_look_is_when_something_is_due, 0, COUNT_OF(moments));
    tcase_add_test(passes, what_is_due_becomes_ready_and_the_rest_waits);
    tcase_add_test(passes, each_of_the_two_moves_only_its_own);
    tcase_add_test(passes, a_pass_sleeps_until_the_next_job_is_due);
    tcase_add_test(passes, a_pass_that_has_more_to_do_goes_on_at_once);
    tcase_set_timeout(passes, 60);
    suite_add_tcase(suite, times);
    suite_add_tcase(suite, passes);
    return suite;
}
