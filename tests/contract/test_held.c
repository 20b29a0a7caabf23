/*
 * test_held.c - what holds whatever gets lost, is cancelled or is upgraded.
 */
#include "bring.h"
#include "contract.h"

#include <string.h>

static void take_for(struct scene *scene, const char *pool, size_t max, usec_t now,
                     struct job_list *taken)
{
    struct reservation wanted = scene_wants(scene, max);

    wanted.pool = pool;
    scene_reserve(scene, &wanted, now, taken);
    ck_assert_uint_eq(taken->count, max);
}

static void held_by(struct scene *scene, const char *pool, struct job_list *held)
{
    struct error err = {0};

    MUST(store_held(scene->store, pool, held, &err));
}

static const struct job *find(const struct job_list *list, const struct uuid *id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (uuid_compare(&list->items[i].id, id) == 0)
            return &list->items[i];
    }
    return NULL;
}

START_TEST(held_returns_exactly_the_running_jobs_of_the_pool_with_their_tokens)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list ours = {0};
    CLEANUP(job_list_done) struct job_list theirs = {0};
    CLEANUP(job_list_done) struct job_list held = {0};
    struct uuid ids[8];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    take_for(&scene, "ours", 4, NOW, &ours);
    take_for(&scene, "theirs", 2, NOW, &theirs);
    struct claim done = claim_of(&scene, &ours.items[1]);
    scene_finish(&scene, &done, SETTLE_ACK, NOW);

    held_by(&scene, "ours", &held);
    ck_assert_uint_eq(held.count, 3);
    ck_assert_ptr_null(find(&held, &done.id));
    for (size_t i = 0; i < ours.count; i++) {
        const struct job *job = find(&held, &ours.items[i].id);
        if (i == 1)
            continue;
        ck_assert_ptr_nonnull(job);
        ck_assert(lease_token_equal(&job->token, &ours.items[i].token));
        ck_assert_int_eq(job->state, JOB_RUNNING);
        ASSERT_TIME(job->expires_at, ours.items[i].expires_at);
        ck_assert_int_eq(job->executions, 1);
        ck_assert_str_eq(job->type, "work");
        ck_assert_str_eq(job->queue, scene.queue);
        ck_assert_uint_eq(job->payload.length, 4);
    }
}
END_TEST

START_TEST(held_by_a_pool_that_runs_nothing_is_empty)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list held = {0};

    bring(&scene, JOB_RUNNING);
    held_by(&scene, "nobody", &held);
    ck_assert_uint_eq(held.count, 0);
}
END_TEST

/* No clock is asked: a lease that ran out is still the pool's, until somebody takes it. */
START_TEST(held_has_expired_leases_until_somebody_takes_them)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list held = {0};
    CLEANUP(job_list_done) struct job_list left = {0};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    take_for(&scene, POOL, 2, NOW, &taken);
    held_by(&scene, POOL, &held);
    ck_assert_uint_eq(held.count, 2);

    struct reservation wanted = scene_wants(&scene, 1);
    wanted.pool = "another";
    scene_reserve(&scene, &wanted, NOW + LEASE, &taken);
    held_by(&scene, POOL, &left);
    ck_assert_ptr_null(find(&left, &ids[0]));
}
END_TEST

static void ack_all(struct scene *scene, const struct job_list *held)
{
    for (size_t i = 0; i < held->count; i++) {
        struct claim claim = claim_of(scene, &held->items[i]);
        scene_finish(scene, &claim, SETTLE_ACK, NOW);
    }
}

START_TEST(a_repeated_reserve_with_the_same_batch_token_after_a_lost_answer_loses_no_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list lost = {0};
    CLEANUP(job_list_done) struct job_list answer = {0};
    CLEANUP(job_list_done) struct job_list held = {0};
    struct reservation wanted = scene_wants(&scene, 3);
    struct uuid ids[8];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_reserve(&scene, &wanted, NOW, &lost);
    scene_reserve(&scene, &wanted, NOW, &answer);
    held_by(&scene, POOL, &held);

    /* Every job that is not ready any more is held, with a token that settles it. */
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], (int64_t)held.count);
    for (size_t i = 0; i < lost.count; i++)
        ck_assert_ptr_nonnull(find(&held, &lost.items[i].id));
    for (size_t i = 0; i < answer.count; i++)
        ck_assert_ptr_nonnull(find(&held, &answer.items[i].id));
    ack_all(&scene, &held);
    struct queue_stats stats = scene_stats(&scene);
    ck_assert_int_eq(stats.jobs[JOB_DONE], (int64_t)held.count);
    ck_assert_int_eq(stats.jobs[JOB_DONE] + stats.jobs[JOB_READY], COUNT_OF(ids));
}
END_TEST

static const enum settlement_kind returns[] = {SETTLE_RETRY,  SETTLE_FAIL,   SETTLE_RELEASE,
                                               SETTLE_SNOOZE, SETTLE_CANCEL, SETTLE_ASIDE};

START_TEST(cancel_of_a_running_job_ends_cancelled_whatever_returns_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct brought running = bring(&scene, JOB_RUNNING);
    struct settlement settlement = claim_settlement(&running.claim, returns[_i]);

    settlement.has_run = true;
    ASSERT_VERDICT(scene_cancel(&scene, &running.id, NOW + 1), TH_OK);
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW + 2), TH_OK);
    const struct job *job = scene_get(&scene, &running.id, &list);
    ck_assert_int_eq(job->state, JOB_CANCELLED);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].outcome, RUN_CANCELLED);
    ASSERT_TIME(job->ended_at, NOW + 2);
    ASSERT_TIME(job->expires_at, 0);
    ck_assert_int_eq(job->reason, REASON_NONE);

    /* It ended by this kind and token: again is a success, another kind is none. */
    AUTO_FREE char *before = scene_snapshot(&scene, &running.id);
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW + 3), TH_OK);
    settlement.kind = SETTLE_ACK;
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW + 3), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &running.id, before);
    scene_take_nothing(&scene, LATER);
}
END_TEST

/* By the one who reserves next, or by the reaper. */
START_TEST(cancel_of_a_running_job_ends_cancelled_when_its_lease_runs_out)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct brought running = bring(&scene, JOB_RUNNING);
    usec_t now = running.claim.expires_at;

    ASSERT_VERDICT(scene_cancel(&scene, &running.id, NOW + 1), TH_OK);
    if (_i == 1)
        scene_reclaim(&scene, now);
    scene_take_nothing(&scene, now);
    ASSERT_STATE(&scene, &running.id, JOB_CANCELLED);
}
END_TEST

/* It is cancelled, not dead: nobody has to be told. */
START_TEST(a_fail_that_ends_as_cancelled_leaves_no_on_dead_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought running = bring(&scene, JOB_RUNNING);
    struct settlement settlement = claim_settlement(&running.claim, SETTLE_FAIL);
    struct job alert = scene_job(&scene);

    settlement.on_dead = &alert;
    ASSERT_VERDICT(scene_cancel(&scene, &running.id, NOW + 1), TH_OK);
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW + 2), TH_OK);
    ASSERT_STATE(&scene, &running.id, JOB_CANCELLED);
    ck_assert(!scene_has(&scene, &alert.id));
}
END_TEST

START_TEST(an_ack_that_comes_before_the_cancel_is_obeyed_wins)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought running = bring(&scene, JOB_RUNNING);

    ASSERT_VERDICT(scene_cancel(&scene, &running.id, NOW + 1), TH_OK);
    scene_finish(&scene, &running.claim, SETTLE_ACK, NOW + 2);
    ASSERT_STATE(&scene, &running.id, JOB_DONE);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
}
END_TEST

static void work_one_job(struct scene *scene)
{
    struct uuid id = scene_add(scene);
    struct claim claim = scene_take_this(scene, &id, NOW);

    scene_finish(scene, &claim, SETTLE_ACK, NOW);
    ASSERT_STATE(scene, &id, JOB_DONE);
}

START_TEST(two_binaries_of_neighbouring_schema_versions_work_side_by_side)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(scene_close) struct scene old = scene_open_fresh();
    const struct store_options options = {.migrate = _i == 1};
    struct store_schema own = {0}, after = {0};
    struct error err = {0};

    /* A newer binary has added something, and left the schema usable for us. */
    MUST(store_schema(scene.store, &own, &err));
    scene_backend()->backdoor->set_schema(scene.url, own.newest + 1, own.newest);
    work_one_job(&scene); /* whoever was there before works on */

    store_close(&old.store);
    MUST(store_open(scene.url, &options, &old.store, &err));
    work_one_job(&old);
    MUST(store_schema(old.store, &after, &err));
    ck_assert_msg(after.version == own.newest + 1, "the older binary took the schema back");
    ck_assert_int_eq(after.usable_from, own.newest);
    work_one_job(&scene);
}
END_TEST

Suite *held_suite(void)
{
    Suite *suite = suite_create("held");
    TCase *held = contract_group(suite, "held");
    TCase *cancelled = contract_group(suite, "cancelled");
    TCase *versions = contract_group(suite, "versions");

    tcase_add_test(held, held_returns_exactly_the_running_jobs_of_the_pool_with_their_tokens);
    tcase_add_test(held, held_by_a_pool_that_runs_nothing_is_empty);
    tcase_add_test(held, held_has_expired_leases_until_somebody_takes_them);
    tcase_add_test(held,
                   a_repeated_reserve_with_the_same_batch_token_after_a_lost_answer_loses_no_job);

    tcase_add_loop_test(cancelled, cancel_of_a_running_job_ends_cancelled_whatever_returns_it, 0,
                        COUNT_OF(returns));
    tcase_add_loop_test(cancelled, cancel_of_a_running_job_ends_cancelled_when_its_lease_runs_out,
                        0, 2);
    tcase_add_test(cancelled, a_fail_that_ends_as_cancelled_leaves_no_on_dead_job);
    tcase_add_test(cancelled, an_ack_that_comes_before_the_cancel_is_obeyed_wins);

    tcase_add_loop_test(versions, two_binaries_of_neighbouring_schema_versions_work_side_by_side, 0,
                        2);
    return suite;
}
