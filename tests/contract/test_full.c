/*
 * test_full.c - a queue of which as many run as may: who is told, and who is woken when one ends.
 */
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <stdio.h>

#define LONG (60 * USEC_PER_SEC)

static bool wait_for(struct scene *scene, usec_t timeout)
{
    struct error err = {0};
    bool rang = false;

    MUST(store_wait(scene->store, timeout, &rang, &err));
    return rang;
}

static bool has_rung(struct scene *scene)
{
    return wait_for(scene, 0);
}

/* It rings, perhaps after a while. */
static bool rings(struct scene *scene)
{
    return wait_for(scene, LONG);
}

/* It has not rung; unless its rings may come so late that this one can be of something before. */
static bool is_silent(struct scene *scene)
{
    return scene_backend()->rings_late || !has_rung(scene);
}

static void quiet(struct scene *scene)
{
    while (has_rung(scene))
        ;
}

/* What a reserve of this queue brings, and whether it says that the queue is full. */
static size_t take_limited(struct scene *scene, size_t max, size_t max_running, usec_t now,
                           bool *is_full_out)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, max);
    struct share_limit limit;

    scene->share.max_running = max_running;
    wanted.limits_out = &limit;
    scene_reserve(scene, &wanted, now, &taken);
    *is_full_out = limit.is_full;
    return taken.count;
}

/* One job runs, one waits, and somebody has been refused because only one may run. Leaves a quiet
 * bell. */
static struct claim fill(struct scene *scene)
{
    bool is_full;

    scene_add(scene);
    struct claim claim = scene_take(scene, NOW);
    scene_add(scene);
    ck_assert_uint_eq(take_limited(scene, 1, 1, NOW, &is_full), 0);
    ck_assert(is_full);
    quiet(scene);
    return claim;
}

/* ---- who is told ---- */

static const struct {
    const char *rule;
    size_t ready, asked, max_running, taken;
    bool is_full;
} answers[] = {
    {"more was asked for than may run", 5, 4, 2, 2, true},
    {"nothing is left that could run", 2, 4, 2, 2, false},
    {"as much as was asked for", 5, 2, 2, 2, false},
    {"no limit", 5, 4, 0, 4, false},
    {"empty", 0, 4, 2, 0, false},
};

START_TEST(a_reserve_says_whether_the_queue_is_full)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid ids[8];
    bool is_full;

    scene_add_many(&scene, answers[_i].ready, ids);
    const size_t taken =
        take_limited(&scene, answers[_i].asked, answers[_i].max_running, NOW, &is_full);
    ck_assert_msg(taken == answers[_i].taken, "%s: %zu", answers[_i].rule, taken);
    ck_assert_msg(is_full == answers[_i].is_full, "%s", answers[_i].rule);
}
END_TEST

START_TEST(a_paused_queue_is_not_called_full)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};
    bool is_full = true;

    fill(&scene);
    MUST(store_pause(scene.store, scene.queue, NULL, NOW, &err));
    ck_assert_uint_eq(take_limited(&scene, 1, 1, NOW, &is_full), 0);
    ck_assert(!is_full);
}
END_TEST

/* ---- who is woken ---- */

/* Every way in which a lease ends. */
struct end {
    const char *name;
    void (*end)(struct scene *scene, const struct claim *claim);
};

static void by_ack(struct scene *scene, const struct claim *claim)
{
    scene_finish(scene, claim, SETTLE_ACK, NOW);
}

static void by_long_ack(struct scene *scene, const struct claim *claim)
{
    struct settlement settlement = claim_settlement(claim, SETTLE_ACK);

    settlement.output = (struct bytes){(const unsigned char *)"out", 3};
    ASSERT_VERDICT(scene_settle(scene, &settlement, NOW), TH_OK);
}

static void by_fail(struct scene *scene, const struct claim *claim)
{
    scene_finish(scene, claim, SETTLE_FAIL, NOW);
}

static void by_retry(struct scene *scene, const struct claim *claim)
{
    scene_finish(scene, claim, SETTLE_RETRY, NOW);
}

static void by_release(struct scene *scene, const struct claim *claim)
{
    scene_finish(scene, claim, SETTLE_RELEASE, NOW);
}

static void by_snooze(struct scene *scene, const struct claim *claim)
{
    scene_finish(scene, claim, SETTLE_SNOOZE, NOW);
}

static void by_cancel(struct scene *scene, const struct claim *claim)
{
    scene_finish(scene, claim, SETTLE_CANCEL, NOW);
}

static void by_reclaim(struct scene *scene, const struct claim *claim)
{
    ck_assert_uint_eq(scene_reclaim(scene, claim->expires_at), 1);
}

/* It does not become ready again. */
static void by_reclaim_of_a_cancelled_one(struct scene *scene, const struct claim *claim)
{
    ASSERT_VERDICT(scene_cancel(scene, &claim->id, NOW), TH_OK);
    quiet(scene);
    ck_assert_uint_eq(scene_reclaim(scene, claim->expires_at), 1);
}

static const struct end ends[] = {
    {"ack", by_ack},
    {"an ack with output", by_long_ack},
    {"fail", by_fail},
    {"retry", by_retry},
    {"release", by_release},
    {"snooze", by_snooze},
    {"cancel", by_cancel},
    {"reclaim", by_reclaim},
    {"reclaim of a cancelled one", by_reclaim_of_a_cancelled_one},
};

START_TEST(the_bell_rings_when_a_full_queue_has_room)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct claim claim = fill(&scene);

    ends[_i].end(&scene, &claim);
    ck_assert_msg(rings(&scene), "%s wakes nobody", ends[_i].name);
}
END_TEST

START_TEST(it_rings_once_for_all_that_ends_until_somebody_is_refused_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[4];
    bool is_full;

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claims[] = {scene_take(&scene, NOW), scene_take(&scene, NOW),
                             scene_take(&scene, NOW)};
    take_limited(&scene, 1, 3, NOW, &is_full);
    take_limited(&scene, 1, 3, NOW, &is_full);
    quiet(&scene);
    scene_finish(&scene, &claims[0], SETTLE_ACK, NOW);
    ck_assert(rings(&scene));
    scene_finish(&scene, &claims[1], SETTLE_ACK, NOW);
    ck_assert(is_silent(&scene));
    ck_assert_uint_eq(take_limited(&scene, 5, 1, NOW, &is_full), 0);
    ck_assert(is_full);
    scene_finish(&scene, &claims[2], SETTLE_ACK, NOW);
    ck_assert(rings(&scene));
}
END_TEST

/* ---- who is not ---- */

START_TEST(nobody_is_woken_for_the_jobs_of_a_queue_without_limit)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claim = scene_take(&scene, NOW);
    quiet(&scene);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ck_assert(is_silent(&scene));
}
END_TEST

START_TEST(nobody_is_woken_when_nobody_was_refused)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct claim claims[2];
    bool is_full;

    for (size_t i = 0; i < COUNT_OF(claims); i++) {
        scene_add(&scene);
        claims[i] = scene_take(&scene, NOW);
    }
    take_limited(&scene, 1, 2, NOW, &is_full); /* full, but there is nothing to wait for */
    quiet(&scene);
    scene_finish(&scene, &claims[0], SETTLE_ACK, NOW);
    ck_assert(is_silent(&scene));
}
END_TEST

START_TEST(nobody_is_woken_for_room_in_another_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct scene other = scene;

    snprintf(other.queue, sizeof other.queue, "other");
    scene_add(&other);
    struct claim claim = scene_take(&other, NOW);
    fill(&scene);
    scene_finish(&other, &claim, SETTLE_ACK, NOW);
    ck_assert(is_silent(&scene));
}
END_TEST

/* Settles the claim and reserves again, in one exchange. */
static size_t take_over(struct scene *scene, const struct claim *claim, size_t max_running)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct settlement ack = claim_settlement(claim, SETTLE_ACK);
    const struct settlement_list finished = {&ack, 1};
    struct reservation wanted = scene_wants(scene, 1);
    enum th_error_code verdict;
    struct error err = {0};

    scene->share.max_running = max_running;
    MUST(store_exchange(scene->store, &finished, &wanted, 1, NOW, &verdict, &taken, &err));
    ASSERT_VERDICT(verdict, TH_OK);
    return taken.count;
}

START_TEST(nobody_is_woken_when_the_room_is_taken_in_the_same_exchange)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct claim claim = fill(&scene);

    ck_assert_uint_eq(take_over(&scene, &claim, 1), 1);
    ck_assert(is_silent(&scene));
}
END_TEST

START_TEST(room_that_an_exchange_leaves_wakes_others)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct claim claim = fill(&scene);

    ck_assert_uint_eq(take_over(&scene, &claim, 2), 1);
    ck_assert(rings(&scene));
}
END_TEST

/* ---- for real ---- */

/* Sleeps until it gets a job, as a dispatcher would. */
static void take_when_there_is_room(struct companion *parent, const struct scene *scene,
                                    const void *context)
{
    const struct queue_share share = {.queue = scene->queue, .max = 1, .max_running = 1};
    struct reservation wanted = {
        .queues = &share, .queue_count = 1, .pool = "the-waiter", .lease_for = LEASE};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct store *store = child_open(scene->url);
    struct error err = {0};
    bool rang = true;

    (void)context;
    while (rang)
        child_must(store_wait(store, 0, &rang, &err), &err);
    for (;;) {
        wanted.batch = batch_fresh();
        child_must(store_reserve(store, &wanted, NOW, &taken, &err), &err);
        if (taken.count > 0)
            break;
        companion_tell(parent, 'w');
        child_must(store_wait(store, LONG, &rang, &err), &err);
        child_must(rang || error_set(&err, TH_E_INTERNAL, "nobody woke the waiter"), &err);
    }
    companion_tell(parent, 'j');
    store_close(&store);
}

START_TEST(another_process_gets_the_room)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    scene_add(&scene);
    struct companion waiter = companion_start(&scene, take_when_there_is_room, NULL);
    ck_assert_int_eq(companion_hear(&waiter), 'w');
    companion_await_sleep(&waiter);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ck_assert_int_eq(companion_hear(&waiter), 'j');
    companion_end(&waiter);
}
END_TEST

Suite *full_suite(void)
{
    Suite *suite = suite_create("full");
    TCase *group = contract_group(suite, "full");

    tcase_add_loop_test(group, a_reserve_says_whether_the_queue_is_full, 0, COUNT_OF(answers));
    tcase_add_test(group, a_paused_queue_is_not_called_full);
    tcase_add_loop_test(group, the_bell_rings_when_a_full_queue_has_room, 0, COUNT_OF(ends));
    tcase_add_test(group, it_rings_once_for_all_that_ends_until_somebody_is_refused_again);
    tcase_add_test(group, nobody_is_woken_for_the_jobs_of_a_queue_without_limit);
    tcase_add_test(group, nobody_is_woken_when_nobody_was_refused);
    tcase_add_test(group, nobody_is_woken_for_room_in_another_queue);
    tcase_add_test(group, nobody_is_woken_when_the_room_is_taken_in_the_same_exchange);
    tcase_add_test(group, room_that_an_exchange_leaves_wakes_others);
    tcase_add_test(group, another_process_gets_the_room);
    return suite;
}
