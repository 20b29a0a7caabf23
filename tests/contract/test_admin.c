/*
 * test_admin.c - what people see, and that it is never a lie.
 *
 * Lists are in test_list.c; limits, pauses and retention in test_limits.c.
 */
#include "bring.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>

START_TEST(inspect_each_state)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    enum job_state state = (enum job_state)_i;
    struct brought brought = bring(&scene, state);
    const struct job *job = scene_get(&scene, &brought.id, &list);

    ck_assert_int_eq(job->state, state);
    ck_assert_str_eq(job->type, brought.type);
    ck_assert_str_eq(job->queue, scene.queue);
    ck_assert_str_eq(job->key, brought.key);
    ASSERT_TIME(job->created_at, NOW);
    ASSERT_TIME(job->due, state == JOB_SCHEDULED || state == JOB_RETRY ? LATER : NOW);
    ASSERT_TIME(job->ended_at, job_state_has_ended(state) ? NOW : 0);
    ASSERT_TIME(job->expires_at, state == JOB_RUNNING ? NOW + LEASE : 0);
    ck_assert_int_eq(job->reason, state == JOB_DEAD ? REASON_PERMANENT : REASON_NONE);
    ck_assert_int_eq(job->attempts, state == JOB_DEAD || state == JOB_RETRY ? 1 : 0);
    ck_assert_pstr_eq(job->last_error, state == JOB_DEAD || state == JOB_RETRY ? "it broke" : NULL);
    if (state == JOB_RUNNING)
        ck_assert_str_eq(job->pool, POOL);
}
END_TEST

START_TEST(inspect_unknown_not_found)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid unknown = uuid_make(&scene.ids, NOW);
    struct error err = {0};

    scene_add(&scene);
    MUST_FAIL(TH_E_NOT_FOUND, store_get(scene.store, &unknown, &list, &err));
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

static size_t count_in_state(struct scene *scene, enum job_state state)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {
        .by_state = true, .state = state, .queue = scene->queue, .limit = JOB_PAGE_MAX};
    struct error err = {0};
    struct job_cursor next;

    MUST(store_list(scene->store, &filter, &list, &next, &err));
    ck_assert(!next.is_set);
    return list.count;
}

START_TEST(stats_equal_counts_of_list)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    for (int state = 0; state < JOB_STATES; state++) {
        for (int i = 0; i <= state % 3; i++)
            bring(&scene, (enum job_state)state);
    }
    struct queue_stats stats = scene_stats(&scene);
    for (int state = 0; state < JOB_STATES; state++) {
        size_t listed = count_in_state(&scene, (enum job_state)state);
        ck_assert_uint_ge(listed, 1);
        ck_assert_msg(stats.jobs[state] == (int64_t)listed, "%s: stats %" PRId64 ", list %zu",
                      job_state_name((enum job_state)state), stats.jobs[state], listed);
    }
    ASSERT_TIME(stats.oldest_ready, NOW);
    ASSERT_TIME(stats.paused_at, 0);
}
END_TEST

START_TEST(stats_tell_the_oldest_ready_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job older = scene_job(&scene);

    scene_add(&scene);
    older.run_at = NOW - SECONDS(9);
    older.priority = 9;
    scene_enqueue(&scene, older, NOW);
    ASSERT_TIME(scene_stats(&scene).oldest_ready, NOW - SECONDS(9));
    scene_take(&scene, NOW);
    scene_take(&scene, NOW);
    ASSERT_TIME(scene_stats(&scene).oldest_ready, 0);
}
END_TEST

START_TEST(discover_queues_and_namespaces)
{
    static const char *const names[] = {"alpha", "beta", "gamma"};
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(scene_close) struct scene other = scene_open_fresh();
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    CLEANUP(queue_stats_list_done) struct queue_stats_list nothing = {0};
    struct error err = {0};

    for (size_t i = COUNT_OF(names); i-- > 0;) {
        snprintf(scene.queue, sizeof scene.queue, "%s", names[i]);
        scene_add(&scene);
    }
    struct claim claim = scene_take(&scene, NOW);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ASSERT_VERDICT(scene_remove(&scene, &claim.id), TH_OK);

    /* By name, and also a queue that has no job any more. */
    MUST(store_stats(scene.store, &stats, &err));
    ck_assert_uint_eq(stats.count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        ck_assert_str_eq(stats.items[i].queue, names[i]);
    MUST(store_stats(other.store, &nothing, &err));
    ck_assert_uint_eq(nothing.count, 0);
}
END_TEST

static void register_pool(struct scene *scene, const char *name, usec_t now)
{
    const struct pool pool = {
        .name = name,
        .host = "host-of-it",
        .pid = 4242,
        .started_at = now - 1,
        .status = {(const unsigned char *)"{}", 2},
    };
    struct error err = {0};

    MUST(store_pool_register(scene->store, &pool, now, &err));
}

START_TEST(pools_register_list_stale_remove)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    CLEANUP(pool_list_done) struct pool_list removed = {0};
    CLEANUP(pool_list_done) struct pool_list left = {0};
    struct error err = {0};

    register_pool(&scene, "b", NOW);
    register_pool(&scene, "a", NOW + 2);
    register_pool(&scene, "b", NOW + 1); /* again: it is the same pool */
    MUST(store_pools(scene.store, &pools, &err));
    ck_assert_uint_eq(pools.count, 2);
    const struct pool *b = &pools.items[strcmp(pools.items[0].name, "b") == 0 ? 0 : 1];
    ck_assert_str_eq(b->name, "b");
    ck_assert_str_eq(b->host, "host-of-it");
    ck_assert_int_eq(b->pid, 4242);
    ASSERT_TIME(b->started_at, NOW);
    ASSERT_TIME(b->beat_at, NOW + 1);
    ck_assert_uint_eq(b->status.length, 2);

    MUST(store_pool_remove_silent(scene.store, NOW + 2, &removed, &err));
    ck_assert_uint_eq(removed.count, 1);
    ck_assert_str_eq(removed.items[0].name, "b");
    MUST(store_pool_remove(scene.store, "a", &err));
    MUST_FAIL(TH_E_NOT_FOUND, store_pool_remove(scene.store, "a", &err));
    MUST(store_pools(scene.store, &left, &err));
    ck_assert_uint_eq(left.count, 0);
}
END_TEST

START_TEST(counters_of_a_pool_outlive_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};

    register_pool(&scene, POOL, NOW);
    bring(&scene, JOB_DONE);
    bring(&scene, JOB_RETRY);
    MUST(store_pool_remove(scene.store, POOL, &err));
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 1);
}
END_TEST

Suite *admin_suite(void)
{
    Suite *suite = suite_create("admin");
    TCase *look = contract_group(suite, "look");
    TCase *whole = contract_group(suite, "whole");

    tcase_add_loop_test(look, inspect_each_state, 0, JOB_STATES);
    tcase_add_test(look, inspect_unknown_not_found);

    tcase_add_test(whole, stats_equal_counts_of_list);
    tcase_add_test(whole, stats_tell_the_oldest_ready_job);
    tcase_add_test(whole, discover_queues_and_namespaces);
    tcase_add_test(whole, pools_register_list_stale_remove);
    tcase_add_test(whole, counters_of_a_pool_outlive_it);
    return suite;
}
