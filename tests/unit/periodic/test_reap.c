/*
 * test_reap.c - one pass of the reaper.
 */
#include "periodic/reap.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "periodic/scene.h"
#include "suites.h"

#include <stdio.h>

#define S(n) ((n)*USEC_PER_SEC)

static const struct {
    const char *rule;
    struct retention_config config;
    struct retention keep;
} retentions[] = {
    {"as it is written", {S(3600), 100, S(7200)}, {S(3600), 100, S(7200)}},
    {"0 is not at all, for each of them", {0, 0, 0}, {0, 0, 0}},
    {"and says nothing about the others", {0, 100, S(1)}, {0, 100, S(1)}},
};

START_TEST(retention_is_what_the_config_says)
{
    const struct retention keep = reap_retention(&retentions[_i].config);
    const struct retention *expected = &retentions[_i].keep;

    ck_assert_msg(keep.done == expected->done && keep.done_max == expected->done_max &&
                      keep.dead == expected->dead,
                  "%s", retentions[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    size_t pruned;
    usec_t since_last;
    size_t done_max;
    usec_t pause; /* with an interval of 30 s */
} pauses[] = {
    {"nothing to remove", 0, S(30), 100000, S(30)},
    {"a little", 1000, S(30), 100000, S(30)},
    {"a twentieth of what is kept ends in 10 s", 15000, S(30), 100000, S(10)},
    {"more than a twentieth ends in any pause", 400000, S(10), 100000, S(1) / 8},
    {"never without a pause", 400000, S(1), 1000, S(1) / 10},
    {"the first pass knows no rate", 1, 0, 100000, S(1) / 10},
};

START_TEST(the_next_pass_comes_before_much_has_ended)
{
    ck_assert_msg(reap_pause(pauses[_i].pruned, pauses[_i].since_last, pauses[_i].done_max,
                             S(30)) == pauses[_i].pause,
                  "%s", pauses[_i].rule);
}
END_TEST

START_TEST(a_pass_is_wanted_when_a_twentieth_of_what_is_kept_has_ended)
{
    ck_assert(!reap_is_wanted(0, 0));
    ck_assert(reap_is_wanted(1, 0));
    ck_assert(!reap_is_wanted(5000, 100000));
    ck_assert(reap_is_wanted(5001, 100000));
}
END_TEST

static usec_t reap(struct scene *scene)
{
    struct error err;
    struct reap_rhythm rhythm = {.pass_time = 1};
    usec_t next;

    MUST(reap_pass(scene->store, &scene->config, POOL, &rhythm, &next, &err));
    return next;
}

START_TEST(a_job_whose_lease_ran_out_is_ready_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const usec_t now = scene_now(&scene);
    const struct uuid lost = scene_add(&scene, 0, now - S(9));

    scene_take(&scene, S(1), now - S(9), &jobs);
    const struct uuid held = scene_add(&scene, 0, now - S(9));
    scene_take(&scene, S(600), now - S(9), &jobs);
    reap(&scene);
    ck_assert_str_eq(scene_state(&scene, &lost), "ready");
    ck_assert_str_eq(scene_state(&scene, &held), "running");
}
END_TEST

START_TEST(a_silent_pool_is_removed)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(pool_list_done) struct pool_list pools = {0}, again = {0};
    const usec_t now = scene_now(&scene);

    scene_register(&scene, "silent", "{}", now - scene.config.pool.stale_threshold - S(1));
    scene_register(&scene, "alive", "{}", now - scene.config.pool.stale_threshold + S(20));
    reap(&scene);
    ck_assert_ptr_null(scene_pool(&scene, "silent", &pools));
    ck_assert_ptr_nonnull(scene_pool(&scene, "alive", &again));
}
END_TEST

static struct uuid end_job(struct scene *scene, enum settlement_kind kind, usec_t now)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const struct uuid id = scene_add(scene, 0, now);

    scene_settle(scene, scene_take(scene, LEASE, now, &jobs), kind, 0, now);
    return id;
}

START_TEST(ended_jobs_are_kept_as_retention_says)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const usec_t now = scene_now(&scene);
    const usec_t done = scene.config.retention.done, dead = scene.config.retention.dead;
    const struct uuid old_done = end_job(&scene, SETTLE_ACK, now - done - S(1));
    const struct uuid new_done = end_job(&scene, SETTLE_ACK, now - done + S(60));
    const struct uuid old_dead = end_job(&scene, SETTLE_FAIL, now - dead - S(1));
    const struct uuid new_dead = end_job(&scene, SETTLE_FAIL, now - dead + S(60));

    reap(&scene);
    ck_assert(!scene_has(&scene, &old_done));
    ck_assert(scene_has(&scene, &new_done));
    ck_assert(!scene_has(&scene, &old_dead));
    ck_assert(scene_has(&scene, &new_dead));
}
END_TEST

START_TEST(a_pass_is_made_every_interval)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const usec_t before = clock_boot();
    const usec_t next = reap(&scene);

    ck_assert_int_ge(next, before + scene.config.pool.reaper_interval);
    ck_assert_int_le(next, clock_boot() + scene.config.pool.reaper_interval);
}
END_TEST

/* Idempotency records are what a prune removes fastest. */
static void add_old_records(struct scene *scene, int count, usec_t now)
{
    AUTO_FREE struct job *jobs = calloc((size_t)count, sizeof *jobs);
    AUTO_FREE struct enqueued *enqueued = calloc((size_t)count, sizeof *enqueued);
    AUTO_FREE char(*keys)[16] = calloc((size_t)count, sizeof *keys);
    struct error err;

    for (int i = 0; i < count; i++) {
        jobs[i] = job_defaults();
        jobs[i].id = uuid_make(&scene->ids, now);
        jobs[i].type = "test:type";
        snprintf(keys[i], sizeof keys[i], "key-%d", i);
        jobs[i].idempotency_key = keys[i];
        jobs[i].idempotency_expires = now + 1;
    }
    MUST(store_enqueue(scene->store, jobs, (size_t)count, now, enqueued, &err));
}

START_TEST(a_pass_that_has_left_something_goes_on_at_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    add_old_records(&scene, 5000, scene_now(&scene) - S(9));
    ck_assert_int_le(reap(&scene), clock_boot());
    ck_assert_int_gt(reap(&scene), clock_boot());
}
END_TEST

/* A long pass that had to catch up made the next, which found little, look like an idle pool's. */
START_TEST(the_time_of_a_pass_counted_as_time_in_which_jobs_had_ended)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct reap_rhythm rhythm = {.pass_time = S(1)};
    struct error err;
    usec_t next;

    MUST(reap_pass(scene.store, &scene.config, POOL, &rhythm, &next, &err));
    ck_assert_int_eq(rhythm.last_at, next - scene.config.pool.reaper_interval);
}
END_TEST

Suite *reap_suite(void)
{
    Suite *suite = suite_create("periodic/reap");
    TCase *retention = tcase_create("retention");
    TCase *passes = tcase_create("passes");

    tcase_add_loop_test(retention, retention_is_what_the_config_says, 0, COUNT_OF(retentions));
    tcase_add_loop_test(retention, the_next_pass_comes_before_much_has_ended, 0, COUNT_OF(pauses));
    tcase_add_test(retention, a_pass_is_wanted_when_a_twentieth_of_what_is_kept_has_ended);
    tcase_add_test(passes, a_job_whose_lease_ran_out_is_ready_again);
    tcase_add_test(passes, a_silent_pool_is_removed);
    tcase_add_test(passes, ended_jobs_are_kept_as_retention_says);
    tcase_add_test(passes, a_pass_is_made_every_interval);
    tcase_add_test(passes, a_pass_that_has_left_something_goes_on_at_once);
    tcase_add_test(passes, the_time_of_a_pass_counted_as_time_in_which_jobs_had_ended);
    tcase_set_timeout(passes, 60);
    suite_add_tcase(suite, retention);
    suite_add_tcase(suite, passes);
    return suite;
}
