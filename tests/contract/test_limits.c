/*
 * test_limits.c - how many run, whether any may, and how long the ended stay.
 */
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>

#define RACERS 20

static void take_limited(struct scene *scene, size_t max, size_t max_running, usec_t now,
                         struct job_list *taken)
{
    struct reservation wanted = scene_wants(scene, max);

    scene->share.max_running = max_running;
    scene_reserve(scene, &wanted, now, taken);
}

static void reserve_limited(struct racer *racer)
{
    const size_t *max_running = racer->context;
    const struct queue_share share = {
        .queue = racer->scene->queue, .max = 1, .max_running = *max_running};
    const struct reservation wanted = {.queues = &share,
                                       .queue_count = 1,
                                       .pool = POOL,
                                       .batch = batch_fresh(),
                                       .lease_for = LEASE};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct error err = {0};

    child_must(store_reserve(racer->store, &wanted, NOW, &taken, &err), &err);
    for (size_t i = 0; i < taken.count; i++)
        race_report(racer, &taken.items[i].id, sizeof taken.items[i].id);
}

static const struct {
    size_t max_running, winners;
} races[] = {{5, 5}, {0, RACERS}, {RACERS + 1, RACERS}, {1, 1}};

START_TEST(limits_set_and_enforced_0_is_unlimited_20_racers_5_winners)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(buffer_done) struct buffer reports = {0};
    struct uuid ids[2 * RACERS];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    race(&scene, RACERS, reserve_limited, &races[_i].max_running, &reports);
    ck_assert_uint_eq(reports.length / sizeof(struct uuid), races[_i].winners);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], (int64_t)races[_i].winners);
}
END_TEST

START_TEST(limit_holds_within_one_reserve_and_across_them)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[10];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    take_limited(&scene, 3, 5, NOW, &taken);
    ck_assert_uint_eq(taken.count, 3);
    take_limited(&scene, 10, 5, NOW, &taken);
    ck_assert_uint_eq(taken.count, 5);
    take_limited(&scene, 10, 5, NOW, &taken);
    ck_assert_uint_eq(taken.count, 5);

    struct claim claim = claim_of(&scene, &taken.items[0]);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    take_limited(&scene, 10, 5, NOW, &taken);
    ck_assert_uint_eq(taken.count, 6);
}
END_TEST

START_TEST(limit_slot_freed_when_owner_dies)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list lost = {0};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[5];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    take_limited(&scene, 2, 2, NOW, &lost);
    ck_assert_uint_eq(lost.count, 2);
    take_limited(&scene, 2, 2, NOW + LEASE - 1, &taken);
    ck_assert_uint_eq(taken.count, 0);
    take_limited(&scene, 2, 2, NOW + LEASE, &taken);
    ck_assert_uint_eq(taken.count, 2);
    ASSERT_SAME_ID(&taken.items[0].id, &ids[0]);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], 2);
}
END_TEST

START_TEST(limited_queue_does_not_block_others)
{
    CLEANUP(scene_close) struct scene limited = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct queue_share shares[] = {{.queue = limited.queue, .max = 5, .max_running = 1},
                                         {.queue = other.queue, .max = 2}};
    struct reservation wanted = scene_wants(&limited, 0);
    struct uuid in_limited[3], in_other[3];

    scene_add_many(&limited, COUNT_OF(in_limited), in_limited);
    scene_add_many(&other, COUNT_OF(in_other), in_other);
    scene_take(&limited, NOW);
    wanted.queues = shares;
    wanted.queue_count = COUNT_OF(shares);
    scene_reserve(&limited, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 2);
    ASSERT_SAME_ID(&taken.items[0].id, &in_other[0]);
    ASSERT_SAME_ID(&taken.items[1].id, &in_other[1]);
}
END_TEST

START_TEST(a_paused_queue_is_not_reserved_from)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct error err = {0};
    struct uuid id = scene_add(&scene);

    MUST(store_pause(scene.store, scene.queue, NULL, NOW, &err));
    MUST(store_pause(scene.store, scene.queue, NULL, NOW + 1, &err));
    ck_assert_int_ne(scene_stats(&scene).paused_at, 0);
    scene_take_nothing(&scene, NOW);
    ck_assert_int_eq(scene_enqueue(&scene, scene_job(&scene), NOW).state, JOB_READY);
    scene_take_nothing(&scene, NOW);

    MUST(store_resume(scene.store, scene.queue, &err));
    MUST(store_resume(scene.store, scene.queue, &err));
    ASSERT_TIME(scene_stats(&scene).paused_at, 0);
    scene_take_this(&scene, &id, NOW);
}
END_TEST

static char *paused_by(struct scene *scene)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};
    struct error err = {0};

    MUST(store_stats(scene->store, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].queue, scene->queue) == 0)
            return strdup(list.items[i].paused_by ? list.items[i].paused_by : "");
    }
    return NULL;
}

START_TEST(a_pause_knows_who_and_when_it_was_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct error err = {0};

    MUST(store_pause(scene.store, scene.queue, "kim@web-1", NOW, &err));
    MUST(store_pause(scene.store, scene.queue, "robin@web-2", NOW + 1, &err));
    AUTO_FREE char *first = paused_by(&scene);
    ck_assert_str_eq(first, "kim@web-1");
    ASSERT_TIME(scene_stats(&scene).paused_at, NOW);
    MUST(store_resume(scene.store, scene.queue, &err));
    AUTO_FREE char *nobody = paused_by(&scene);
    ck_assert_str_eq(nobody, "");
    MUST(store_pause(scene.store, scene.queue, NULL, NOW + 2, &err));
    AUTO_FREE char *unknown = paused_by(&scene);
    ck_assert_str_eq(unknown, "");
    ASSERT_TIME(scene_stats(&scene).paused_at, NOW + 2);
    MUST_FAIL(TH_E_INVALID, store_pause(scene.store, scene.queue, "\xff", NOW, &err));
}
END_TEST

/* ---- hidden queues ---- */

START_TEST(an_empty_queue_can_be_hidden_and_is_there_again_with_its_next_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct error err = {0};

    MUST_FAIL(TH_E_NOT_FOUND, store_hide_queue(scene.store, "nobody-knows-it", &err));
    MUST(store_pause(scene.store, scene.queue, "kim@web-1", NOW, &err));
    MUST(store_hide_queue(scene.store, scene.queue, &err));
    ck_assert_ptr_null(paused_by(&scene));
    MUST(store_hide_queue(scene.store, scene.queue, &err));
    scene_add(&scene);
    ASSERT_TIME(scene_stats(&scene).paused_at, 0);
    struct claim claim = scene_take(&scene, NOW);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ASSERT_VERDICT(scene_remove(&scene, &claim.id), TH_OK);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
    MUST(store_hide_queue(scene.store, scene.queue, &err));
    ck_assert_ptr_null(paused_by(&scene));
}
END_TEST

START_TEST(a_queue_with_a_job_in_any_state_cannot_be_hidden)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct error err = {0};

    bring(&scene, (enum job_state)_i);
    MUST_FAIL(TH_E_CONFLICT, store_hide_queue(scene.store, scene.queue, &err));
    ck_assert_int_eq(scene_stats(&scene).jobs[_i], 1);
}
END_TEST

START_TEST(a_pause_creates_its_queue_and_stops_no_run)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct error err = {0};

    MUST(store_pause(scene.store, scene.queue, NULL, NOW, &err));
    ASSERT_TIME(scene_stats(&scene).paused_at, NOW);
    MUST(store_resume(scene.store, scene.queue, &err));
    struct brought running = bring(&scene, JOB_RUNNING);
    MUST(store_pause(scene.store, scene.queue, NULL, NOW, &err));
    scene_finish(&scene, &running.claim, SETTLE_ACK, NOW);
    ASSERT_STATE(&scene, &running.id, JOB_DONE);
}
END_TEST

static size_t prune(struct scene *scene, const struct retention *keep, usec_t now, size_t limit)
{
    struct error err = {0};
    size_t removed = MANY;

    MUST(store_prune(scene->store, keep, now, limit, &removed, &err));
    return removed;
}

/* Which ages count for which state. */
static const struct {
    enum job_state state;
    struct retention keep;
} retentions[] = {
    {JOB_DONE, {.done = SECONDS(60), .done_max = SIZE_MAX, .dead = USEC_MAX}},
    {JOB_CANCELLED, {.done = SECONDS(60), .done_max = SIZE_MAX, .dead = USEC_MAX}},
    {JOB_DEAD, {.done = USEC_MAX, .done_max = SIZE_MAX, .dead = SECONDS(60)}},
};

START_TEST(purge_done_and_dlq_by_age)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[JOB_STATES];
    const struct retention *keep = &retentions[_i].keep;
    bool done_alike = retentions[_i].state != JOB_DEAD;

    for (int state = 0; state < JOB_STATES; state++)
        ids[state] = bring(&scene, (enum job_state)state).id;
    size_t before = scene_count(&scene);
    ck_assert_uint_eq(prune(&scene, keep, NOW + SECONDS(60) - 1, MANY), 0);
    ck_assert_uint_eq(scene_count(&scene), before);
    prune(&scene, keep, NOW + SECONDS(60), MANY);
    ck_assert_uint_eq(scene_count(&scene), before - (done_alike ? 2 : 1));
    ck_assert_msg(scene_has(&scene, &ids[JOB_DONE]) == !done_alike, "done");
    ck_assert_msg(scene_has(&scene, &ids[JOB_CANCELLED]) == !done_alike, "cancelled");
    ck_assert_msg(scene_has(&scene, &ids[JOB_DEAD]) == done_alike, "dead");
}
END_TEST

#define ENDED_JOBS 600

/* Half of them done, half of them dead, all at NOW. */
static void end_many(struct scene *scene)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, ENDED_JOBS);
    struct settlement finished[ENDED_JOBS];
    enum th_error_code verdicts[ENDED_JOBS];
    const struct settlement_list list = {finished, ENDED_JOBS};
    struct uuid ids[ENDED_JOBS];
    struct error err = {0};

    scene_add_many(scene, ENDED_JOBS, ids);
    scene_reserve(scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, ENDED_JOBS);
    for (size_t i = 0; i < ENDED_JOBS; i++) {
        struct claim claim = claim_of(scene, &taken.items[i]);
        finished[i] = claim_settlement(&claim, i % 2 == 0 ? SETTLE_ACK : SETTLE_FAIL);
    }
    MUST(store_settle(scene->store, &list, NOW, verdicts, &err));
    for (size_t i = 0; i < ENDED_JOBS; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
}

START_TEST(purge_goes_in_batches)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    static const size_t expected[] = {290, 290, 20, 0};
    const struct retention nothing = {.done = 0, .done_max = SIZE_MAX, .dead = 0};
    size_t left = ENDED_JOBS;

    end_many(&scene);
    struct uuid ready = scene_add(&scene);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        ck_assert_uint_eq(prune(&scene, &nothing, NOW + 1, 290), expected[i]);
        left -= expected[i];
        ck_assert_uint_eq(scene_count(&scene), left + 1);
    }
    ASSERT_STATE(&scene, &ready, JOB_READY);
}
END_TEST

/* Whoever passes until a pass finds nothing leaves no record behind. */
START_TEST(purge_of_idempotency_records_goes_in_batches_too)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    static const size_t expected[] = {3, 2, 0};
    const struct retention all = {.done = USEC_MAX, .done_max = SIZE_MAX, .dead = USEC_MAX};

    for (int i = 0; i < 5; i++) {
        char key[] = {(char)('a' + i), '\0'};
        struct job job = scene_job(&scene);
        job.idempotency_key = key;
        job.idempotency_expires = NOW + 1;
        scene_enqueue(&scene, job, NOW);
    }
    ck_assert_uint_eq(prune(&scene, &all, NOW, 3), 0);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        ck_assert_uint_eq(prune(&scene, &all, NOW + 1, 3), expected[i]);
    ck_assert_uint_eq(scene_count(&scene), 5);
}
END_TEST

START_TEST(purge_keeps_the_newest_done_max_of_each_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct retention newest = {.done = USEC_MAX, .done_max = 2, .dead = USEC_MAX};
    struct uuid ids[5], elsewhere, dead = bring(&scene, JOB_DEAD).id;
    char queue[sizeof scene.queue];

    /* Ended in the reverse order of their ids. */
    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claims[COUNT_OF(ids)];
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        claims[i] = scene_take(&scene, NOW);
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        scene_finish(&scene, &claims[i], SETTLE_ACK, NOW + 10 - (usec_t)i);
    memcpy(queue, scene.queue, sizeof queue);
    snprintf(scene.queue, sizeof scene.queue, "elsewhere");
    elsewhere = bring(&scene, JOB_DONE).id;
    memcpy(scene.queue, queue, sizeof queue);

    ck_assert_uint_eq(prune(&scene, &newest, NOW + 11, MANY), 3);
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ck_assert_msg(scene_has(&scene, &ids[i]) == (i < 2), "job %zu", i);
    ck_assert(scene_has(&scene, &elsewhere));
    ck_assert(scene_has(&scene, &dead));
}
END_TEST

Suite *limits_suite(void)
{
    Suite *suite = suite_create("limits");
    TCase *running = contract_group(suite, "running");
    TCase *pause = contract_group(suite, "pause");
    TCase *retention = contract_group(suite, "retention");

    tcase_add_loop_test(running, limits_set_and_enforced_0_is_unlimited_20_racers_5_winners, 0,
                        COUNT_OF(races));
    tcase_add_test(running, limit_holds_within_one_reserve_and_across_them);
    tcase_add_test(running, limit_slot_freed_when_owner_dies);
    tcase_add_test(running, limited_queue_does_not_block_others);

    tcase_add_test(pause, a_paused_queue_is_not_reserved_from);
    tcase_add_test(pause, a_pause_creates_its_queue_and_stops_no_run);
    tcase_add_test(pause, a_pause_knows_who_and_when_it_was_first);
    tcase_add_test(pause, an_empty_queue_can_be_hidden_and_is_there_again_with_its_next_job);
    tcase_add_loop_test(pause, a_queue_with_a_job_in_any_state_cannot_be_hidden, 0, JOB_STATES);

    tcase_add_loop_test(retention, purge_done_and_dlq_by_age, 0, COUNT_OF(retentions));
    tcase_add_test(retention, purge_goes_in_batches);
    tcase_add_test(retention, purge_of_idempotency_records_goes_in_batches_too);
    tcase_add_test(retention, purge_keeps_the_newest_done_max_of_each_queue);
    return suite;
}
