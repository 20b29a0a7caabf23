/*
 * test_rate.c - so many jobs of a queue are reserved in a while, by all pools together.
 */
#include "base/clock.h"
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <stdlib.h>

#define RACERS  20
#define BACKLOG 500

static const struct units_rate five = {5, USEC_PER_SEC};
static const usec_t interval = USEC_PER_SEC / 5;

/* How many jobs a reserve brings that asks for so many, and what it says about the rest. */
static size_t take_at(struct scene *scene, struct units_rate rate, size_t max, usec_t now,
                      struct share_limit *limit_out)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, max);

    scene->share.rate = rate;
    wanted.limits_out = limit_out;
    scene_reserve(scene, &wanted, now, &taken);
    return taken.count;
}

static struct scene scene_with(size_t jobs)
{
    struct scene scene = scene_open();
    struct uuid ids[BACKLOG];

    scene_add_many(&scene, jobs, ids);
    return scene;
}

START_TEST(a_burst_is_one_second_of_the_rate_and_then_it_fills_up_evenly)
{
    CLEANUP(scene_close) struct scene scene = scene_with(20);
    struct share_limit limit;

    ck_assert_uint_eq(take_at(&scene, five, 10, NOW, &limit), 5);
    ASSERT_TIME(limit.limited_until, NOW + interval);
    ck_assert(!limit.is_full);
    ck_assert_uint_eq(take_at(&scene, five, 10, NOW + interval - 1, &limit), 0);
    ASSERT_TIME(limit.limited_until, NOW + interval);
    ck_assert_uint_eq(take_at(&scene, five, 10, NOW + interval, &limit), 1);
    ASSERT_TIME(limit.limited_until, NOW + 2 * interval);
    ck_assert_uint_eq(take_at(&scene, five, 10, NOW + 3 * interval, &limit), 2);
    ck_assert_uint_eq(take_at(&scene, five, 10, NOW + SECONDS(100), &limit), 5);
}
END_TEST

START_TEST(only_what_is_taken_is_paid_for)
{
    CLEANUP(scene_close) struct scene scene = scene_with(2);
    struct share_limit limit;
    struct uuid ids[9];

    ck_assert_uint_eq(take_at(&scene, five, 1, NOW, &limit), 1);
    ck_assert_uint_eq(take_at(&scene, five, 9, NOW, &limit), 1);
    ASSERT_TIME(limit.limited_until, 0); /* it was empty */
    scene_add_many(&scene, COUNT_OF(ids), ids);
    ck_assert_uint_eq(take_at(&scene, five, 9, NOW, &limit), 3);
    ASSERT_TIME(limit.limited_until, NOW + interval);
}
END_TEST

START_TEST(nobody_is_told_to_wait_for_a_queue_that_is_empty)
{
    CLEANUP(scene_close) struct scene scene = scene_with(5);
    struct share_limit limit;

    ck_assert_uint_eq(take_at(&scene, five, 9, NOW, &limit), 5);
    ASSERT_TIME(limit.limited_until, 0);
}
END_TEST

START_TEST(a_released_job_is_not_refunded)
{
    CLEANUP(scene_close) struct scene scene = scene_with(5);
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, 5);
    struct share_limit limit;

    scene.share.rate = five;
    scene_reserve(&scene, &wanted, NOW, &taken);
    for (size_t i = 0; i < taken.count; i++) {
        struct claim claim = claim_of(&scene, &taken.items[i]);
        scene_finish(&scene, &claim, SETTLE_RELEASE, NOW);
    }
    ck_assert_uint_eq(take_at(&scene, five, 5, NOW, &limit), 0);
    ck_assert_uint_eq(take_at(&scene, five, 5, NOW + SECONDS(1), &limit), 5);
}
END_TEST

START_TEST(the_death_of_a_pool_costs_nothing_of_the_rate)
{
    CLEANUP(scene_close) struct scene scene = scene_with(5);
    struct share_limit limit;

    ck_assert_uint_eq(take_at(&scene, five, 5, NOW, &limit), 5);
    ck_assert_uint_eq(take_at(&scene, five, 5, NOW + LEASE, &limit), 5);
}
END_TEST

START_TEST(the_limit_outlives_the_handle)
{
    CLEANUP(scene_close) struct scene scene = scene_with(9);
    struct share_limit limit;

    ck_assert_uint_eq(take_at(&scene, five, 4, NOW, &limit), 4);
    scene_reopen(&scene);
    ck_assert_uint_eq(take_at(&scene, five, 4, NOW, &limit), 1);
    scene_reopen(&scene);
    ck_assert_uint_eq(take_at(&scene, five, 4, NOW, &limit), 0);
}
END_TEST

START_TEST(a_queue_without_rate_is_not_held_up_by_what_others_paid)
{
    CLEANUP(scene_close) struct scene scene = scene_with(9);
    struct share_limit limit;

    ck_assert_uint_eq(take_at(&scene, five, 5, NOW, &limit), 5);
    ck_assert_uint_eq(take_at(&scene, (struct units_rate){0}, 9, NOW, &limit), 4);
}
END_TEST

START_TEST(a_clock_that_went_back_does_not_stop_the_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_with(9);
    struct share_limit limit;

    ck_assert_uint_eq(take_at(&scene, five, 5, NOW, &limit), 5);
    ck_assert_uint_eq(take_at(&scene, five, 1, NOW - USEC_PER_HOUR, &limit), 1);
}
END_TEST

START_TEST(a_limited_queue_does_not_hold_up_others)
{
    CLEANUP(scene_close) struct scene limited = scene_with(3);
    CLEANUP(scene_close) struct scene other = scene_with(3);
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct queue_share shares[] = {
        {.queue = limited.queue, .max = 3, .rate = {1, USEC_PER_DAY}},
        {.queue = other.queue, .max = 2}};
    struct share_limit limits[COUNT_OF(shares)];
    struct reservation wanted = scene_wants(&limited, 0);

    wanted.queues = shares;
    wanted.queue_count = COUNT_OF(shares);
    wanted.limits_out = limits;
    scene_reserve(&limited, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 3);
    ASSERT_TIME(limits[0].limited_until, NOW + USEC_PER_DAY);
    ASSERT_TIME(limits[1].limited_until, 0);
}
END_TEST

/* The smaller of the two limits holds; each that stands in the way is named. */
static const struct {
    size_t max_running;
    int64_t rate;
    size_t taken;
    bool is_full, is_limited;
} both[] = {
    {3, 5, 3, true, false},
    {5, 3, 3, false, true},
    {4, 4, 4, true, true},
    {20, 20, 8, false, false},
};

START_TEST(both_limits_hold_together)
{
    CLEANUP(scene_close) struct scene scene = scene_with(9);
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, 8);
    struct share_limit limit;

    scene.share.max_running = both[_i].max_running;
    scene.share.rate = (struct units_rate){both[_i].rate, USEC_PER_SEC};
    wanted.limits_out = &limit;
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, both[_i].taken);
    ck_assert(limit.is_full == both[_i].is_full);
    ck_assert((limit.limited_until != 0) == both[_i].is_limited);
}
END_TEST

START_TEST(a_rate_out_of_range_is_refused)
{
    CLEANUP(scene_close) struct scene scene = scene_with(1);
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, 1);
    struct error err = {0};

    scene.share.rate = (struct units_rate){1, USEC_PER_DAY + 1};
    MUST_FAIL(TH_E_INVALID, store_reserve(scene.store, &wanted, NOW, &taken, &err));
    ck_assert_uint_eq(taken.count, 0);
}
END_TEST

/* ---- pools that race ---- */

static const struct units_rate racing = {100, USEC_PER_SEC};

#define RACE_TIME   (USEC_PER_SEC / 2)
#define CALLS_LEAST 10 /* of each racer, however slow they are: together they use the burst up */

/* Takes whatever it gets, for a while, and reports the moment of each. */
static void reserve_for_a_while(struct racer *racer)
{
    const struct queue_share share = {
        .queue = racer->scene->queue, .max = 1 + racer->number % 5, .rate = racing};
    struct reservation wanted = {
        .queues = &share, .queue_count = 1, .pool = POOL, .lease_for = LEASE};
    const usec_t end = clock_boot() + RACE_TIME;
    struct error err = {0};
    int calls = 0;

    do {
        CLEANUP(job_list_done) struct job_list taken = {0};
        const usec_t now = store_now(racer->store);

        wanted.batch = batch_fresh();
        child_must(store_reserve(racer->store, &wanted, now, &taken, &err), &err);
        for (size_t i = 0; i < taken.count; i++)
            race_report(racer, &now, sizeof now);
    } while (++calls < CALLS_LEAST || clock_boot() < end);
}

static int compare_times(const void *a, const void *b)
{
    const usec_t left = *(const usec_t *)a, right = *(const usec_t *)b;

    return (left > right) - (left < right);
}

START_TEST(racing_pools_never_take_more_than_the_rate_in_any_stretch)
{
    CLEANUP(scene_close) struct scene scene = scene_with(BACKLOG);
    CLEANUP(buffer_done) struct buffer reports = {0};
    size_t crowded = 0;

    race(&scene, RACERS, reserve_for_a_while, NULL, &reports);
    const size_t count = reports.length / sizeof(usec_t);
    usec_t *at = (usec_t *)(void *)reports.data;

    qsort(at, count, sizeof *at, compare_times);
    for (size_t first = 0; first < count; first++)
        for (size_t last = first; last < count; last++)
            crowded += (int64_t)(last - first) >=
                       racing.count + (at[last] - at[first]) * racing.count / racing.period;
    ck_assert_uint_eq(crowded, 0);
    ck_assert_uint_ge(count, (size_t)racing.count);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], (int64_t)count);
}
END_TEST

Suite *rate_suite(void)
{
    Suite *suite = suite_create("rate");
    TCase *group = contract_group(suite, "rate");

    tcase_add_test(group, a_burst_is_one_second_of_the_rate_and_then_it_fills_up_evenly);
    tcase_add_test(group, only_what_is_taken_is_paid_for);
    tcase_add_test(group, nobody_is_told_to_wait_for_a_queue_that_is_empty);
    tcase_add_test(group, a_released_job_is_not_refunded);
    tcase_add_test(group, the_death_of_a_pool_costs_nothing_of_the_rate);
    tcase_add_test(group, the_limit_outlives_the_handle);
    tcase_add_test(group, a_queue_without_rate_is_not_held_up_by_what_others_paid);
    tcase_add_test(group, a_clock_that_went_back_does_not_stop_the_queue);
    tcase_add_test(group, a_limited_queue_does_not_hold_up_others);
    tcase_add_loop_test(group, both_limits_hold_together, 0, COUNT_OF(both));
    tcase_add_test(group, a_rate_out_of_range_is_refused);
    tcase_add_test(group, racing_pools_never_take_more_than_the_rate_in_any_stretch);
    return suite;
}
