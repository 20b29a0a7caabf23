/*
 * test_clock.c - whose clock says that a lease is over.
 *
 * The moments that a scene hands in are years ahead of the database's clock. That is how it looks
 * to the store when a pool has not noticed yet that the clock was set back.
 */
#include "contract.h"
#include "scene.h"

#include "base/text.h"

/* As a pool opens it. */
static struct store *open_clocked(const struct scene *scene, struct timekeeper *clock)
{
    const struct store_options options = {.clock = clock};
    struct store *store = NULL;
    struct error err = {0};

    MUST(store_open(scene->url, &options, &store, &err));
    return store;
}

static bool is_a_cluster(void)
{
    return text_equal(scene_backend()->name, "redis-cluster");
}

static usec_t long_over(const struct claim *claim)
{
    return claim->expires_at + SECONDS(3600);
}

static void assert_reserves(struct scene *scene, struct store *store, usec_t now, size_t expected)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct reservation wanted = scene_wants(scene, 1);
    struct error err = {0};

    MUST(store_reserve(store, &wanted, now, &taken, &err));
    ck_assert_uint_eq(taken.count, expected);
}

START_TEST(a_pool_that_has_not_seen_the_clock_set_back_takes_no_lease_that_holds)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct timekeeper clock = {.lease = LEASE};
    CLEANUP(store_close) struct store *store = open_clocked(&scene, &clock);
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct error err = {0};
    size_t moved = 1;

    if (is_a_cluster())
        return; /* the nodes have a clock each */
    assert_reserves(&scene, store, long_over(&claim), 0);
    MUST(store_reclaim(store, long_over(&claim), MANY, &moved, &err));
    ck_assert_uint_eq(moved, 0);
    ASSERT_STATE(&scene, &id, JOB_RUNNING);

    /* Whoever hands in a time of its own is believed. */
    assert_reserves(&scene, scene.store, long_over(&claim), 1);
}
END_TEST

START_TEST(a_lease_that_holds_by_the_databases_clock_is_extended_and_settled)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct timekeeper clock = {.lease = LEASE};
    CLEANUP(store_close) struct store *store = open_clocked(&scene, &clock);
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct lease_beat lease = {.job = claim.id,
                               .queue = claim.queue,
                               .token = claim.token,
                               .ref = claim.ref,
                               .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    const struct settlement done = claim_settlement(&claim, SETTLE_ACK);
    const struct settlement_list finished = {&done, 1};
    enum th_error_code verdict = TH_E_INTERNAL;
    struct lease_answer answer = {.verdict = TH_E_INTERNAL};
    struct error err = {0};
    struct pool_answer told;

    if (is_a_cluster())
        return;
    MUST(store_heartbeat(store, &heartbeat, 1, long_over(&claim), &answer, &told, &err));
    ASSERT_VERDICT(answer.verdict, TH_OK);
    MUST(store_settle(store, &finished, long_over(&claim) + 2 * LEASE, &verdict, &err));
    ASSERT_VERDICT(verdict, TH_OK);
    ASSERT_STATE(&scene, &id, JOB_DONE);
}
END_TEST

Suite *clock_suite(void)
{
    Suite *suite = suite_create("clock");
    TCase *set_back = contract_group(suite, "set back");

    tcase_add_test(set_back, a_pool_that_has_not_seen_the_clock_set_back_takes_no_lease_that_holds);
    tcase_add_test(set_back, a_lease_that_holds_by_the_databases_clock_is_extended_and_settled);
    return suite;
}
