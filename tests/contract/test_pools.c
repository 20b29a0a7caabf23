/*
 * test_pools.c - beats of several pools in one call, and what somebody wants of a pool.
 */
#include "contract.h"
#include "scene.h"

#include <stdlib.h>

#define SHORT SECONDS(5)
#define LONG  SECONDS(3600)

static void register_pool(struct scene *scene, const char *name)
{
    const struct pool pool = {.name = name, .host = "host", .pid = 1, .started_at = NOW};
    struct error err = {0};

    MUST(store_pool_register(scene->store, &pool, NOW, &err));
}

static struct lease_beat beat_for(const struct claim *claim, usec_t lease_for)
{
    return (struct lease_beat){
        .job = claim->id,
        .queue = claim->queue,
        .token = claim->token,
        .ref = claim->ref,
        .progress_percent = -1,
        .lease_for = lease_for,
    };
}

static usec_t expiry_of(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};

    return scene_get(scene, id, &list)->expires_at;
}

static struct pool_answer beat_pool(struct scene *scene, const char *name)
{
    const struct heartbeat heartbeat = {.pool = name, .lease_for = LEASE};
    struct pool_answer told = {0};
    struct error err = {0};

    MUST(store_heartbeat(scene->store, &heartbeat, 1, NOW + 1, NULL, &told, &err));
    return told;
}

/* ---- several at once ---- */

START_TEST(each_pool_hears_whether_it_is_registered)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct heartbeat beats[] = {{.pool = "c", .lease_for = LEASE},
                                      {.pool = "a", .lease_for = LEASE},
                                      {.pool = "b", .lease_for = LEASE}};
    struct pool_answer told[3];
    struct error err = {0};

    register_pool(&scene, "a");
    register_pool(&scene, "b");
    register_pool(&scene, "c");
    MUST(store_pool_remove(scene.store, "a", &err));
    MUST(store_pool_want(scene.store, "b", POOL_WANT_QUIET, NULL, NOW, &err));
    MUST(store_heartbeat(scene.store, beats, 3, NOW + 1, NULL, told, &err));
    ck_assert(told[0].is_registered && !told[1].is_registered && told[2].is_registered);
    ck_assert_int_eq(told[0].want, POOL_WANT_NOTHING);
    ck_assert_int_eq(told[2].want, POOL_WANT_QUIET);
}
END_TEST

START_TEST(leases_of_all_pools_are_extended_and_answered_in_their_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[3];
    struct lease_beat leases[3];
    struct lease_answer answers[3];
    struct pool_answer told[3];
    struct error err = {0};

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct claim claim = scene_take_this(&scene, &ids[i], NOW);
        leases[i] = beat_for(&claim, 0);
    }
    leases[1].token.bytes[0] ^= 1;
    const struct heartbeat beats[] = {
        {.pool = "one", .leases = leases, .lease_count = 2, .lease_for = LONG},
        {.pool = "none", .lease_for = LEASE},
        {.pool = "other", .leases = &leases[2], .lease_count = 1, .lease_for = SHORT}};
    MUST(store_heartbeat(scene.store, beats, 3, NOW + 1, answers, told, &err));
    ASSERT_VERDICT(answers[0].verdict, TH_OK);
    ASSERT_VERDICT(answers[1].verdict, TH_E_LEASE_MISMATCH);
    ASSERT_VERDICT(answers[2].verdict, TH_OK);
    ASSERT_TIME(expiry_of(&scene, &ids[0]), NOW + 1 + LONG);
    ASSERT_TIME(expiry_of(&scene, &ids[1]), NOW + LEASE);
    ASSERT_TIME(expiry_of(&scene, &ids[2]), NOW + 1 + SHORT);
}
END_TEST

START_TEST(a_lease_can_be_extended_by_a_time_of_its_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[3];
    struct lease_beat leases[3];
    struct lease_answer answers[3];
    struct pool_answer told;
    struct error err = {0};
    static const usec_t own[] = {LONG, 0, SHORT};

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct claim claim = scene_take_this(&scene, &ids[i], NOW);
        leases[i] = beat_for(&claim, own[i]);
    }
    const struct heartbeat beat = {
        .pool = POOL, .leases = leases, .lease_count = 3, .lease_for = LEASE};
    MUST(store_heartbeat(scene.store, &beat, 1, NOW + 1, answers, &told, &err));
    ASSERT_TIME(expiry_of(&scene, &ids[0]), NOW + 1 + LONG);
    ASSERT_TIME(expiry_of(&scene, &ids[1]), NOW + 1 + LEASE);
    ASSERT_TIME(expiry_of(&scene, &ids[2]), NOW + 1 + SHORT);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + SHORT), 0);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + 1 + SHORT), 1);
    ASSERT_STATE(&scene, &ids[2], JOB_READY);
}
END_TEST

START_TEST(a_beat_with_a_lease_that_is_too_long_extends_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    const struct lease_beat lease = beat_for(&claim, JOB_TIMEOUT_MAX + 1);
    const struct heartbeat beat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer;
    struct pool_answer told;
    struct error err = {0};

    MUST_FAIL(TH_E_INVALID, store_heartbeat(scene.store, &beat, 1, NOW + 1, &answer, &told, &err));
    ASSERT_TIME(expiry_of(&scene, &id), NOW + LEASE);
}
END_TEST

/* ---- what is wanted ---- */

START_TEST(what_is_wanted_of_a_pool_is_heard_with_its_beat_and_the_last_one_is_right)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};

    register_pool(&scene, POOL);
    ck_assert_int_eq(beat_pool(&scene, POOL).want, POOL_WANT_NOTHING);
    ASSERT_TIME(beat_pool(&scene, POOL).wanted_at, 0);
    MUST(store_pool_want(scene.store, POOL, POOL_WANT_TERMINATE, "ann@here", NOW + 2, &err));
    ck_assert_int_eq(beat_pool(&scene, POOL).want, POOL_WANT_TERMINATE);
    ASSERT_TIME(beat_pool(&scene, POOL).wanted_at, NOW + 2);
    MUST(store_pool_want(scene.store, POOL, POOL_WANT_QUIET, "bob@there", NOW + 3, &err));
    ck_assert_int_eq(beat_pool(&scene, POOL).want, POOL_WANT_QUIET);
    MUST(store_pool_want(scene.store, POOL, POOL_WANT_NOTHING, NULL, NOW + 4, &err));
    ck_assert_int_eq(beat_pool(&scene, POOL).want, POOL_WANT_NOTHING);
    ASSERT_TIME(beat_pool(&scene, POOL).wanted_at, NOW + 4);
}
END_TEST

START_TEST(what_is_wanted_of_a_pool_is_shown_with_who_wants_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list pools = {0}, later = {0};
    struct error err = {0};

    register_pool(&scene, "a");
    register_pool(&scene, "b");
    MUST(store_pool_want(scene.store, "b", POOL_WANT_QUIET, "ann@here", NOW + 2, &err));
    MUST(store_pools(scene.store, &pools, &err));
    ck_assert_uint_eq(pools.count, 2);
    ck_assert_int_eq(pools.items[0].want, POOL_WANT_NOTHING);
    ck_assert_ptr_null(pools.items[0].wanted_by);
    ck_assert_int_eq(pools.items[1].want, POOL_WANT_QUIET);
    ck_assert_str_eq(pools.items[1].wanted_by, "ann@here");
    ASSERT_TIME(pools.items[1].wanted_at, NOW + 2);
    MUST(store_pool_want(scene.store, "b", POOL_WANT_TERMINATE, NULL, NOW + 3, &err));
    MUST(store_pools(scene.store, &later, &err));
    ck_assert_int_eq(later.items[1].want, POOL_WANT_TERMINATE);
    ck_assert_ptr_null(later.items[1].wanted_by);
}
END_TEST

START_TEST(nothing_can_be_wanted_of_a_pool_that_is_not_there)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    struct error err = {0};

    MUST_FAIL(TH_E_NOT_FOUND, store_pool_want(scene.store, POOL, POOL_WANT_QUIET, NULL, NOW, &err));
    MUST(store_pools(scene.store, &pools, &err));
    ck_assert_uint_eq(pools.count, 0);
}
END_TEST

/* Whether it was removed in between, or not. */
START_TEST(nothing_is_wanted_of_a_pool_that_begins_anew)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    struct error err = {0};

    register_pool(&scene, POOL);
    MUST(store_pool_want(scene.store, POOL, POOL_WANT_TERMINATE, "ann@here", NOW, &err));
    if (_i == 1)
        MUST(store_pool_remove(scene.store, POOL, &err));
    register_pool(&scene, POOL);
    ck_assert_int_eq(beat_pool(&scene, POOL).want, POOL_WANT_NOTHING);
    MUST(store_pools(scene.store, &pools, &err));
    ck_assert_uint_eq(pools.count, 1);
    ASSERT_TIME(pools.items[0].wanted_at, 0);
    ck_assert_ptr_null(pools.items[0].wanted_by);
}
END_TEST

Suite *pools_suite(void)
{
    Suite *suite = suite_create("pools");
    TCase *several = contract_group(suite, "several");
    TCase *want = contract_group(suite, "want");

    tcase_add_test(several, each_pool_hears_whether_it_is_registered);
    tcase_add_test(several, leases_of_all_pools_are_extended_and_answered_in_their_order);
    tcase_add_test(several, a_lease_can_be_extended_by_a_time_of_its_own);
    tcase_add_test(several, a_beat_with_a_lease_that_is_too_long_extends_nothing);
    tcase_add_test(want, what_is_wanted_of_a_pool_is_heard_with_its_beat_and_the_last_one_is_right);
    tcase_add_test(want, what_is_wanted_of_a_pool_is_shown_with_who_wants_it);
    tcase_add_test(want, nothing_can_be_wanted_of_a_pool_that_is_not_there);
    tcase_add_loop_test(want, nothing_is_wanted_of_a_pool_that_begins_anew, 0, 2);
    return suite;
}
