/*
 * test_reclaim.c - what happens when a lease runs out.
 *
 * Whoever reserves next takes it back, or the reaper does: loop tests run once for each.
 */
#include "companion.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>

#define RACERS     32
#define RACED_JOBS 2000

enum taker { BY_RESERVE, BY_REAPER };

#define TAKERS 2

/* Lets the lease run out, has the job taken back and reserves it again. */
static struct claim take_back(struct scene *scene, enum taker taker, usec_t now)
{
    if (taker == BY_REAPER)
        ck_assert_uint_eq(scene_reclaim(scene, now), 1);
    return scene_take(scene, now);
}

START_TEST(expired_lease_is_reclaimed_and_reservable_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);

    struct claim claim = take_back(&scene, (enum taker)_i, lost.expires_at + 1);
    ASSERT_SAME_ID(&claim.id, &id);
    ck_assert_int_eq(claim.executions, 2);
    ASSERT_TIME(claim.expires_at, lost.expires_at + 1 + LEASE);
}
END_TEST

START_TEST(lease_boundary_exactly_at_expiry_is_expired_and_reclaimable)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    struct settlement ack = claim_settlement(&lost, SETTLE_ACK);

    ck_assert_uint_eq(scene_reclaim(&scene, lost.expires_at - 1), 0);
    scene_take_nothing(&scene, lost.expires_at - 1);
    ASSERT_VERDICT(scene_settle(&scene, &ack, lost.expires_at), TH_E_LEASE_EXPIRED);
    assert_unchanged(&scene, &id, before);
    take_back(&scene, (enum taker)_i, lost.expires_at);
}
END_TEST

START_TEST(settlement_just_before_the_expiry_counts)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_ACK, claim.expires_at - 1);
    ASSERT_STATE(&scene, &id, JOB_DONE);
}
END_TEST

START_TEST(reclaim_clears_run_at_and_keeps_the_place)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.run_at = NOW - SECONDS(5);
    scene_add(&scene);
    scene_enqueue(&scene, job, NOW);
    struct claim lost = scene_take(&scene, NOW);
    ASSERT_SAME_ID(&lost.id, &job.id);
    struct claim claim = take_back(&scene, (enum taker)_i, lost.expires_at);
    ASSERT_SAME_ID(&claim.id, &job.id);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    ASSERT_TIME(stored->run_at, 0);
    ASSERT_TIME(stored->due, NOW - SECONDS(5));
}
END_TEST

START_TEST(reclaim_issues_new_token_and_old_token_is_dead)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);
    struct claim claim = take_back(&scene, (enum taker)_i, lost.expires_at);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);

    ck_assert(!lease_token_equal(&claim.token, &lost.token));
    for (int kind = SETTLE_ACK; kind <= SETTLE_ASIDE; kind++) {
        struct settlement late = claim_settlement(&lost, (enum settlement_kind)kind);
        ASSERT_VERDICT(scene_settle(&scene, &late, lost.expires_at), TH_E_LEASE_MISMATCH);
    }
    assert_unchanged(&scene, &id, before);
    scene_finish(&scene, &claim, SETTLE_ACK, lost.expires_at);
}
END_TEST

START_TEST(old_token_of_a_job_that_waits_again_is_not_running)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);
    struct settlement late = claim_settlement(&lost, SETTLE_ACK);

    ck_assert_uint_eq(scene_reclaim(&scene, lost.expires_at), 1);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &late, lost.expires_at), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(reclaim_increments_stalls)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    for (int stalls = 1; stalls <= 5; stalls++) {
        claim = take_back(&scene, (enum taker)_i, claim.expires_at);
        ck_assert_int_eq(claim.stalls, stalls);
    }
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->stalls, 5); /* more than the default of max_stalls: a store only counts */
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_int_eq(job->executions, 6);
}
END_TEST

START_TEST(reclaim_records_the_lost_run)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);

    take_back(&scene, (enum taker)_i, lost.expires_at);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].execution, 1);
    ck_assert_int_eq(job->runs[0].outcome, RUN_STALLED);
    ck_assert_str_eq(job->runs[0].pool, POOL);
}
END_TEST

/* Reserves the next job; true when the core ends it instead of running it. */
static bool ends_instead_of_running(struct scene *scene, usec_t now, usec_t *expires_at)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, 1);
    struct settlement settlement;

    scene_reserve(scene, &wanted, now, &taken);
    ck_assert_uint_eq(taken.count, 1);
    *expires_at = taken.items[0].expires_at;
    struct job_limits limits = job_limits_resolve(&taken.items[0], NULL, &job_limits_default);
    if (!settlement_instead_of_run(&taken.items[0], &limits, &settlement))
        return false;
    ASSERT_VERDICT(scene_settle(scene, &settlement, now), TH_OK);
    return true;
}

START_TEST(reserve_hands_out_at_max_stalls_and_the_core_settles_dead_with_reason_stalled)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);
    usec_t now = NOW;

    job.max_stalls = 2;
    scene_enqueue(&scene, job, NOW);
    ck_assert(!ends_instead_of_running(&scene, now, &now));
    ck_assert(!ends_instead_of_running(&scene, now, &now));
    usec_t last = now;
    ck_assert(ends_instead_of_running(&scene, last, &now));

    const struct job *dead = scene_get(&scene, &job.id, &list);
    ck_assert_int_eq(dead->state, JOB_DEAD);
    ck_assert_int_eq(dead->reason, REASON_STALLED);
    ck_assert_int_eq(dead->stalls, 2);
    ck_assert_int_eq(dead->attempts, 0);
    ASSERT_TIME(dead->ended_at, last);
    scene_take_nothing(&scene, last + USEC_PER_DAY);
}
END_TEST

static void reserve_one(struct racer *racer)
{
    const struct queue_share share = {.queue = racer->scene->queue, .max = 1};
    const usec_t *now = racer->context;
    const struct reservation wanted = {.queues = &share,
                                       .queue_count = 1,
                                       .pool = POOL,
                                       .batch = batch_fresh(),
                                       .lease_for = LEASE};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct error err = {0};

    child_must(store_reserve(racer->store, &wanted, *now, &taken, &err), &err);
    for (size_t i = 0; i < taken.count; i++)
        race_report(racer, &taken.items[i].token, sizeof taken.items[i].token);
}

START_TEST(reclaim_single_winner_among_32)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(buffer_done) struct buffer reports = {0};
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);

    race(&scene, RACERS, reserve_one, &lost.expires_at, &reports);
    ck_assert_uint_eq(reports.length, sizeof(struct lease_token));
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_mem_eq(&job->token, reports.data, sizeof job->token);
    ck_assert_int_eq(job->stalls, 1);
    ck_assert_int_eq(job->executions, 2);
}
END_TEST

static void reclaim_some(struct racer *racer)
{
    const usec_t *now = racer->context;
    struct error err = {0};
    size_t moved = 0;

    child_must(store_reclaim(racer->store, *now, MANY, &moved, &err), &err);
    race_report(racer, &moved, sizeof moved);
}

START_TEST(sweep_takes_each_lease_back_once_among_32)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(buffer_done) struct buffer reports = {0};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, MANY);
    struct uuid ids[600];
    size_t moved[RACERS], sum = 0;

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_reserve(&scene, &wanted, NOW, &taken);
    const usec_t now = NOW + LEASE;
    race(&scene, RACERS, reclaim_some, &now, &reports);
    ck_assert_uint_eq(reports.length, sizeof moved);
    memcpy(moved, reports.data, sizeof moved);
    for (size_t i = 0; i < RACERS; i++)
        sum += moved[i];
    ck_assert_uint_eq(sum, COUNT_OF(ids));
    job_list_done(&taken);
    wanted.batch = batch_fresh();
    scene_reserve(&scene, &wanted, now, &taken);
    ck_assert_uint_eq(taken.count, COUNT_OF(ids));
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ck_assert_int_eq(taken.items[i].stalls, 1);
}
END_TEST

/* Until there are none left; each job is reported with its token. */
static void reserve_all(struct racer *racer)
{
    const struct queue_share share = {.queue = racer->scene->queue, .max = 1 + racer->number % 7};
    struct error err = {0};

    for (size_t got = 1; got > 0;) {
        CLEANUP(job_list_done) struct job_list taken = {0};
        const struct reservation wanted = {.queues = &share,
                                           .queue_count = 1,
                                           .pool = POOL,
                                           .batch = batch_fresh(),
                                           .lease_for = USEC_PER_DAY};
        child_must(store_reserve(racer->store, &wanted, NOW, &taken, &err), &err);
        for (size_t i = 0; i < taken.count; i++)
            race_report(racer, &taken.items[i].id, sizeof taken.items[i].id);
        got = taken.count;
    }
}

static int compare_ids(const void *a, const void *b)
{
    return uuid_compare(a, b);
}

START_TEST(concurrent_reserve_no_double_lease_2000_jobs_32_processes)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(buffer_done) struct buffer reports = {0};
    struct uuid stored[RACED_JOBS], taken[RACED_JOBS];

    scene_add_many(&scene, RACED_JOBS, stored);
    race(&scene, RACERS, reserve_all, NULL, &reports);
    ck_assert_uint_eq(reports.length, sizeof taken);
    memcpy(taken, reports.data, sizeof taken);

    /* As many as there are, and all of them: so none twice. */
    qsort(stored, RACED_JOBS, sizeof stored[0], compare_ids);
    qsort(taken, RACED_JOBS, sizeof taken[0], compare_ids);
    ck_assert_mem_eq(taken, stored, sizeof taken);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], RACED_JOBS);
}
END_TEST

/* Ready jobs of all queues. */
static int64_t count_ready(struct scene *scene)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    struct error err = {0};
    int64_t ready = 0;

    MUST(store_stats(scene->store, &stats, &err));
    for (size_t i = 0; i < stats.count; i++)
        ready += stats.items[i].jobs[JOB_READY];
    return ready;
}

START_TEST(sweep_respects_batch_limit_and_drains_over_calls)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    static const size_t expected[] = {10, 10, 5, 0};
    struct uuid ids[5];
    struct error err = {0};
    int64_t ready = 0;

    for (int queue = 0; queue < 5; queue++) {
        CLEANUP(job_list_done) struct job_list taken = {0};
        snprintf(scene.queue, sizeof scene.queue, "queue-%d", queue);
        scene_add_many(&scene, COUNT_OF(ids), ids);
        struct reservation wanted = scene_wants(&scene, MANY);
        scene_reserve(&scene, &wanted, NOW, &taken);
    }
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        size_t moved = MANY;
        MUST(store_reclaim(scene.store, NOW + LEASE, 10, &moved, &err));
        ck_assert_uint_eq(moved, expected[i]);
        ready += (int64_t)moved;
        ck_assert_int_eq(count_ready(&scene), ready);
    }
}
END_TEST

#define DEAD_POOLS 50

static void register_pool(struct scene *scene, const char *name, usec_t now)
{
    const struct pool pool = {.name = name, .host = "host", .pid = 1, .started_at = now};
    struct error err = {0};

    MUST(store_pool_register(scene->store, &pool, now, &err));
}

static void let_pool_take_one(struct scene *scene, const char *name)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, 1);

    wanted.pool = name;
    scene_reserve(scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 1);
}

START_TEST(sweep_of_many_dead_pools_in_one_pass)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list removed = {0};
    struct uuid ids[DEAD_POOLS];
    struct error err = {0};
    char name[32];

    scene_add_many(&scene, DEAD_POOLS, ids);
    register_pool(&scene, "alive", NOW + 1);
    for (int i = 0; i < DEAD_POOLS; i++) {
        snprintf(name, sizeof name, "dead-%d", i);
        register_pool(&scene, name, NOW);
        let_pool_take_one(&scene, name);
    }
    MUST(store_pool_remove_silent(scene.store, NOW + 1, &removed, &err));
    ck_assert_uint_eq(removed.count, DEAD_POOLS);
    for (size_t i = 0; i < removed.count; i++)
        ck_assert_str_ne(removed.items[i].name, "alive");

    /* A pool's death takes no job from a run that may still go on; the end of the lease does. */
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + LEASE - 1), 0);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + LEASE), DEAD_POOLS);
}
END_TEST

Suite *reclaim_suite(void)
{
    Suite *suite = suite_create("reclaim");
    TCase *one = contract_group(suite, "one");
    TCase *many = contract_group(suite, "many");

    tcase_add_loop_test(one, expired_lease_is_reclaimed_and_reservable_again, 0, TAKERS);
    tcase_add_loop_test(one, lease_boundary_exactly_at_expiry_is_expired_and_reclaimable, 0,
                        TAKERS);
    tcase_add_test(one, settlement_just_before_the_expiry_counts);
    tcase_add_loop_test(one, reclaim_clears_run_at_and_keeps_the_place, 0, TAKERS);
    tcase_add_loop_test(one, reclaim_issues_new_token_and_old_token_is_dead, 0, TAKERS);
    tcase_add_test(one, old_token_of_a_job_that_waits_again_is_not_running);
    tcase_add_loop_test(one, reclaim_increments_stalls, 0, TAKERS);
    tcase_add_loop_test(one, reclaim_records_the_lost_run, 0, TAKERS);
    tcase_add_test(one,
                   reserve_hands_out_at_max_stalls_and_the_core_settles_dead_with_reason_stalled);

    tcase_add_test(many, reclaim_single_winner_among_32);
    tcase_add_test(many, sweep_takes_each_lease_back_once_among_32);
    tcase_add_test(many, concurrent_reserve_no_double_lease_2000_jobs_32_processes);
    tcase_add_test(many, sweep_respects_batch_limit_and_drains_over_calls);
    tcase_add_test(many, sweep_of_many_dead_pools_in_one_pass);
    return suite;
}
