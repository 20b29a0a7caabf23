/*
 * test_claims.c - several reservations in one call, each of a pool of its own: what a process does
 * that serves workers elsewhere.
 */
#include "contract.h"
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUES  3
#define CHUNK   1000 /* of a long queue */
#define MINUTE  SECONDS(60)
#define DEFAULT SECONDS(7)

/* Queues of the scene, named after its own. */
struct queues {
    char names[QUEUES][JOB_NAME_MAX + 8];
    struct queue_share shares[QUEUES];
};

static void name_queues(struct scene *scene, struct queues *queues)
{
    for (size_t i = 0; i < QUEUES; i++) {
        snprintf(queues->names[i], sizeof queues->names[i], "%s.%zu", scene->queue, i);
        queues->shares[i] = (struct queue_share){.queue = queues->names[i], .max = MANY};
    }
}

static struct uuid add_to(struct scene *scene, const char *queue, int priority)
{
    struct job job = scene_job(scene);

    job.queue = queue;
    job.priority = priority;
    return scene_enqueue(scene, job, NOW).id;
}

static struct reservation claim_from(const struct queues *queues, size_t max_total)
{
    return (struct reservation){
        .queues = queues->shares,
        .queue_count = QUEUES,
        .max_total = max_total,
        .pool = POOL,
        .batch = batch_fresh(),
        .lease_for = LEASE,
    };
}

static void reserve_all(struct scene *scene, const struct reservation *wanted, size_t count,
                        struct job_list *taken)
{
    const struct settlement_list nothing = {0};
    struct error err = {0};

    MUST(store_exchange(scene->store, &nothing, wanted, count, NOW, NULL, taken, &err));
}

static size_t count_of(const struct job_list *taken, const char *queue)
{
    size_t count = 0;

    for (size_t i = 0; i < taken->count; i++)
        count += strcmp(taken->items[i].queue, queue) == 0;
    return count;
}

static size_t count_held(struct scene *scene, const char *pool)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    struct error err = {0};

    MUST(store_held(scene->store, pool, &held, &err));
    return held.count;
}

/* ---- several of them ---- */

static void assert_is_of(const struct job *job, const struct reservation *wanted, uint32_t number)
{
    const struct lease_token token = lease_token_make(&wanted->batch, 0);

    ck_assert_uint_eq(job->reservation, number);
    ck_assert_str_eq(job->pool, wanted->pool);
    ck_assert_int_eq(lease_token_compare_batches(&job->token, &token), 0);
}

static const size_t crowds[] = {4, 40}; /* leases of their own, and leases that are kept together */

START_TEST(reservations_of_two_pools_get_jobs_of_their_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const size_t count = crowds[_i], half = count / 2;
    AUTO_FREE struct uuid *ids = calloc(count, sizeof *ids);
    struct reservation wanted[2] = {scene_wants(&scene, half), scene_wants(&scene, half)};

    ck_assert_ptr_nonnull(ids);
    wanted[1].pool = "pool-2";
    scene_add_many(&scene, count, ids);
    reserve_all(&scene, wanted, 2, &taken);
    ck_assert_uint_eq(taken.count, count);
    for (size_t i = 0; i < count; i++) {
        ASSERT_SAME_ID(&taken.items[i].id, &ids[i]);
        assert_is_of(&taken.items[i], &wanted[i / half], (uint32_t)(i / half));
        struct claim claim = claim_of(&scene, &taken.items[i]);
        scene_finish(&scene, &claim, i % 2 == 0 ? SETTLE_ACK : SETTLE_RELEASE, NOW + 1);
    }
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_DONE], (int64_t)half);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], 0);
}
END_TEST

START_TEST(each_pool_holds_what_was_reserved_for_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[5];
    const struct queue_share shares[] = {{.queue = scene.queue, .max = 2},
                                         {.queue = scene.queue, .max = 3}};
    struct reservation wanted[2] = {scene_wants(&scene, 1), scene_wants(&scene, 1)};

    wanted[0].queues = &shares[0];
    wanted[1].queues = &shares[1];
    wanted[1].pool = "pool-2";
    scene_add_many(&scene, COUNT_OF(ids), ids);
    reserve_all(&scene, wanted, 2, &taken);
    ck_assert_uint_eq(count_held(&scene, POOL), 2);
    ck_assert_uint_eq(count_held(&scene, "pool-2"), 3);
}
END_TEST

START_TEST(a_reservation_that_finds_nothing_does_not_spoil_the_others)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct queues queues;
    struct uuid id = scene_add(&scene);
    struct reservation wanted[3];

    name_queues(&scene, &queues);
    wanted[0] = claim_from(&queues, 0);
    wanted[1] = scene_wants(&scene, MANY);
    wanted[2] = claim_from(&queues, 5);
    reserve_all(&scene, wanted, 3, &taken);
    ck_assert_uint_eq(taken.count, 1);
    ASSERT_SAME_ID(&taken.items[0].id, &id);
    ck_assert_uint_eq(taken.items[0].reservation, 1);
}
END_TEST

START_TEST(a_reservation_that_is_invalid_lets_none_reserve)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct settlement_list nothing = {0};
    struct uuid id = scene_add(&scene);
    struct reservation wanted[2] = {scene_wants(&scene, 1), scene_wants(&scene, 1)};
    struct error err = {0};

    wanted[1].lease_for = 0; /* and no lease_default */
    MUST_FAIL(TH_E_INVALID,
              store_exchange(scene.store, &nothing, wanted, 2, NOW, NULL, &taken, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "reservation 2: lease"));
    ASSERT_STATE(&scene, &id, JOB_READY);
}
END_TEST

START_TEST(max_running_holds_for_all_reservations_together)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct share_limit limits[2];
    struct uuid ids[5];
    struct reservation wanted[2] = {scene_wants(&scene, 2), scene_wants(&scene, 2)};

    scene.share.max_running = 3;
    wanted[0].limits_out = &limits[0];
    wanted[1].limits_out = &limits[1];
    scene_add_many(&scene, COUNT_OF(ids), ids);
    reserve_all(&scene, wanted, 2, &taken);
    ck_assert_uint_eq(taken.count, 3);
    ck_assert(!limits[0].is_full);
    ck_assert(limits[1].is_full);
}
END_TEST

START_TEST(what_is_settled_in_the_same_call_makes_room)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct queues queues;
    enum th_error_code verdict;
    struct error err = {0};

    name_queues(&scene, &queues);
    struct uuid first = scene_add(&scene), second = scene_add(&scene);
    struct claim claim = scene_take_this(&scene, &first, NOW);
    struct reservation wanted[2] = {claim_from(&queues, 3), scene_wants(&scene, MANY)};
    scene.share.max_running = 1;
    const struct settlement ack = claim_settlement(&claim, SETTLE_ACK);
    const struct settlement_list finished = {&ack, 1};
    MUST(store_exchange(scene.store, &finished, wanted, 2, NOW, &verdict, &taken, &err));
    ASSERT_VERDICT(verdict, TH_OK);
    ck_assert_uint_eq(taken.count, 1);
    ASSERT_SAME_ID(&taken.items[0].id, &second);
    ck_assert_uint_eq(taken.items[0].reservation, 1);
}
END_TEST

/* ---- max_total ---- */

static const struct {
    const char *rule;
    size_t jobs[QUEUES], total, expected[QUEUES];
} totals[] = {
    {"0 is no limit", {2, 3, 2}, 0, {2, 3, 2}},
    {"the first queue has enough", {2, 3, 2}, 1, {1, 0, 0}},
    {"just enough", {2, 3, 2}, 2, {2, 0, 0}},
    {"the next one gives what is left", {2, 3, 2}, 4, {2, 2, 0}},
    {"and the next one", {2, 3, 2}, 6, {2, 3, 1}},
    {"all there are", {2, 3, 2}, 9, {2, 3, 2}},
    {"an empty one is passed over", {0, 3, 2}, 4, {0, 3, 1}},
    {"and one in between", {1, 0, 5}, 3, {1, 0, 2}},
    {"only the last one has any", {0, 0, 1}, 1, {0, 0, 1}},
    {"none has any", {0, 0, 0}, 5, {0, 0, 0}},
    {"many share a lease", {0, 20, 30}, 40, {0, 20, 20}},
};

START_TEST(max_total_is_shared_by_the_queues_in_their_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct queues queues;

    name_queues(&scene, &queues);
    for (size_t i = 0; i < QUEUES; i++)
        for (size_t k = 0; k < totals[_i].jobs[i]; k++)
            add_to(&scene, queues.names[i], 5);
    const struct reservation wanted = claim_from(&queues, totals[_i].total);
    scene_reserve(&scene, &wanted, NOW, &taken);
    for (size_t i = 0; i < QUEUES; i++)
        ck_assert_msg(count_of(&taken, queues.names[i]) == totals[_i].expected[i],
                      "%s: queue %zu gave %zu", totals[_i].rule, i,
                      count_of(&taken, queues.names[i]));
    for (size_t i = 0; i < taken.count; i++) {
        struct claim claim = claim_of(&scene, &taken.items[i]);
        claim.queue = taken.items[i].queue;
        scene_finish(&scene, &claim, SETTLE_ACK, NOW + 1);
    }
}
END_TEST

/* A queue that comes first goes first, whatever the priorities are; within one they count. */
START_TEST(max_total_takes_the_first_in_line_of_each_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct queues queues;

    name_queues(&scene, &queues);
    const struct uuid expected[] = {add_to(&scene, queues.names[0], 9),
                                    add_to(&scene, queues.names[1], 1)};
    add_to(&scene, queues.names[1], 5);
    add_to(&scene, queues.names[2], 0);
    const struct reservation wanted = claim_from(&queues, COUNT_OF(expected));
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, COUNT_OF(expected));
    for (size_t i = 0; i < taken.count; i++)
        ASSERT_SAME_ID(&taken.items[i].id, &expected[i]);
}
END_TEST

START_TEST(max_total_passes_over_what_is_paused_or_full)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct share_limit limits[QUEUES];
    struct queues queues;
    struct error err = {0};

    name_queues(&scene, &queues);
    queues.shares[1].max_running = 1;
    for (size_t i = 0; i < QUEUES; i++)
        for (size_t k = 0; k < 4; k++)
            add_to(&scene, queues.names[i], 5);
    MUST(store_pause(scene.store, queues.names[0], NULL, NOW, &err));
    struct reservation wanted = claim_from(&queues, 4);
    wanted.limits_out = limits;
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(count_of(&taken, queues.names[0]), 0);
    ck_assert_uint_eq(count_of(&taken, queues.names[1]), 1);
    ck_assert_uint_eq(count_of(&taken, queues.names[2]), 3);
    ck_assert(limits[1].is_full && !limits[0].is_full && !limits[2].is_full);
}
END_TEST

/* What ran out is there again for whoever looks, though nothing else waits. */
START_TEST(max_total_finds_leases_that_ran_out)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list first = {0}, taken = {0};
    struct queues queues;

    name_queues(&scene, &queues);
    struct uuid id = add_to(&scene, queues.names[QUEUES - 1], 5);
    struct reservation wanted = claim_from(&queues, 2);
    scene_reserve(&scene, &wanted, NOW, &first);
    ck_assert_uint_eq(first.count, 1);
    wanted.batch = batch_fresh();
    scene_reserve(&scene, &wanted, NOW + LEASE, &taken);
    ck_assert_uint_eq(taken.count, 1);
    ASSERT_SAME_ID(&taken.items[0].id, &id);
    ck_assert_int_eq(taken.items[0].stalls, 1);
}
END_TEST

/* Somebody took the job that rang last, with nothing left to find: until the queue was looked at
 * again, no job rings. */
START_TEST(who_found_nothing_within_max_total_is_woken)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list first = {0}, nothing = {0};
    struct queues queues;
    struct error err = {0};
    bool rang = true;

    name_queues(&scene, &queues);
    add_to(&scene, queues.names[2], 5);
    queues.shares[2].max = 1;
    const struct reservation just_one = claim_from(&queues, 0);
    scene_reserve(&scene, &just_one, NOW, &first);
    ck_assert_uint_eq(first.count, 1);
    scene_reopen(&scene);
    while (rang)
        MUST(store_wait(scene.store, 0, &rang, &err));
    const struct reservation wanted = claim_from(&queues, 5);
    scene_reserve(&scene, &wanted, NOW, &nothing);
    ck_assert_uint_eq(nothing.count, 0);
    MUST(store_wait(scene.store, 0, &rang, &err));
    add_to(&scene, queues.names[2], 5);
    MUST(store_wait(scene.store, SECONDS(20), &rang, &err));
    ck_assert_msg(rang, "nobody woke the waiter");
}
END_TEST

/* ---- leases and types ---- */

static struct job job_for(struct scene *scene, usec_t timeout)
{
    struct job job = scene_job(scene);

    job.timeout = timeout;
    return job;
}

START_TEST(a_lease_can_be_as_long_as_its_job_may_run)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid slow = scene_enqueue(&scene, job_for(&scene, MINUTE), NOW).id;
    struct uuid plain = scene_enqueue(&scene, job_for(&scene, 0), NOW).id;
    struct reservation wanted = scene_wants(&scene, MANY);

    wanted.lease_for = 0;
    wanted.lease_default = DEFAULT;
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 2);
    ASSERT_TIME(taken.items[0].expires_at, NOW + MINUTE);
    ASSERT_TIME(taken.items[1].expires_at, NOW + DEFAULT);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + DEFAULT - 1), 0);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + DEFAULT), 1);
    ASSERT_STATE(&scene, &plain, JOB_READY);
    ASSERT_STATE(&scene, &slow, JOB_RUNNING);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + MINUTE - 1), 0);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + MINUTE), 1);
}
END_TEST

/* As many as would share a lease, if they ended together. */
START_TEST(leases_of_their_own_length_are_never_kept_together)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, MANY);

    for (int i = 0; i < 40; i++)
        scene_enqueue(&scene, job_for(&scene, SECONDS(100 - i)), NOW);
    wanted.lease_for = 0;
    wanted.lease_default = DEFAULT;
    scene_reserve(&scene, &wanted, NOW, &taken);
    for (int i = 0; i < 40; i++)
        ASSERT_TIME(taken.items[i].expires_at, NOW + SECONDS(100 - i));
    for (int i = 0; i < 40; i++)
        ck_assert_uint_eq(scene_reclaim(&scene, NOW + SECONDS(61 + i)), 1);
}
END_TEST

static void add_others(struct scene *scene, size_t count)
{
    AUTO_FREE struct job *jobs = calloc(CHUNK, sizeof *jobs);
    AUTO_FREE struct enqueued *enqueued = calloc(CHUNK, sizeof *enqueued);
    struct error err = {0};

    ck_assert(jobs && enqueued);
    while (count > 0) {
        const size_t part = count < CHUNK ? count : CHUNK;

        for (size_t i = 0; i < part; i++) {
            jobs[i] = scene_job(scene);
            jobs[i].type = "other";
        }
        MUST(store_enqueue(scene->store, jobs, part, NOW, enqueued, &err));
        count -= part;
    }
}

START_TEST(types_are_looked_for_among_the_first_10000_of_a_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list behind = {0}, found = {0};
    const char *const type = "mine";
    struct reservation wanted = scene_wants(&scene, 1);

    wanted.types = &type;
    wanted.type_count = 1;
    add_others(&scene, JOB_LOOK_MAX);
    struct job mine = scene_job(&scene);
    mine.type = type;
    struct uuid id = scene_enqueue(&scene, mine, NOW).id;
    scene_reserve(&scene, &wanted, NOW, &behind);
    ck_assert_msg(behind.count == 0, "the job at place 10001 was found");
    scene_take(&scene, NOW);
    wanted = scene_wants(&scene, 1);
    wanted.types = &type;
    wanted.type_count = 1;
    scene_reserve(&scene, &wanted, NOW, &found);
    ck_assert_msg(found.count == 1, "the job at place 10000 was not found");
    ASSERT_SAME_ID(&found.items[0].id, &id);
}
END_TEST

Suite *claims_suite(void)
{
    Suite *suite = suite_create("claims");
    TCase *several = contract_group(suite, "several");
    TCase *total = contract_group(suite, "total");
    TCase *lease = contract_group(suite, "lease");

    tcase_add_loop_test(several, reservations_of_two_pools_get_jobs_of_their_own, 0,
                        COUNT_OF(crowds));
    tcase_add_test(several, each_pool_holds_what_was_reserved_for_it);
    tcase_add_test(several, a_reservation_that_finds_nothing_does_not_spoil_the_others);
    tcase_add_test(several, a_reservation_that_is_invalid_lets_none_reserve);
    tcase_add_test(several, max_running_holds_for_all_reservations_together);
    tcase_add_test(several, what_is_settled_in_the_same_call_makes_room);
    tcase_add_loop_test(total, max_total_is_shared_by_the_queues_in_their_order, 0,
                        COUNT_OF(totals));
    tcase_add_test(total, max_total_takes_the_first_in_line_of_each_queue);
    tcase_add_test(total, max_total_passes_over_what_is_paused_or_full);
    tcase_add_test(total, max_total_finds_leases_that_ran_out);
    tcase_add_test(total, who_found_nothing_within_max_total_is_woken);
    tcase_add_test(lease, a_lease_can_be_as_long_as_its_job_may_run);
    tcase_add_test(lease, leases_of_their_own_length_are_never_kept_together);
    tcase_add_test(lease, types_are_looked_for_among_the_first_10000_of_a_queue);
    return suite;
}
