/*
 * test_extend.c - a heartbeat keeps the leases it may keep, and says which not.
 */
#include "contract.h"
#include "refusal.h"

#include <string.h>

static struct lease_beat beat_of(const struct claim *claim)
{
    return (struct lease_beat){
        .job = claim->id,
        .queue = claim->queue,
        .token = claim->token,
        .ref = claim->ref,
        .progress_percent = -1,
    };
}

static void register_pool(struct scene *scene)
{
    const struct pool pool = {.name = POOL, .host = "host", .pid = 1, .started_at = NOW};
    struct error err = {0};

    MUST(store_pool_register(scene->store, &pool, NOW, &err));
}

/* Extends by twice LEASE, so that a new expiry differs from the old one also at NOW. */
static void beat(struct scene *scene, const struct lease_beat *leases, size_t count, usec_t now,
                 struct lease_answer *answers)
{
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = leases, .lease_count = count, .lease_for = 2 * LEASE};
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene->store, &heartbeat, 1, now, answers, &told, &err));
}

static struct lease_answer extend(struct scene *scene, const struct claim *claim, usec_t now)
{
    struct lease_beat lease = beat_of(claim);
    struct lease_answer answer = {.verdict = TH_E_INTERNAL, .cancel_requested = true};

    beat(scene, &lease, 1, now, &answer);
    return answer;
}

START_TEST(extend_correct_token_extends_expiry)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    if (_i == 1)
        claim.ref = 0;
    struct lease_answer answer = extend(&scene, &claim, NOW + 5);
    ASSERT_VERDICT(answer.verdict, TH_OK);
    ck_assert(!answer.cancel_requested);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_RUNNING);
    ASSERT_TIME(job->expires_at, NOW + 5 + 2 * LEASE);
    ck_assert(lease_token_equal(&job->token, &claim.token));
    ck_assert_int_eq(job->executions, 1);
}
END_TEST

START_TEST(extend_prevents_reclaim)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    ASSERT_VERDICT(extend(&scene, &claim, claim.expires_at - 1).verdict, TH_OK);
    usec_t expires_at = claim.expires_at - 1 + 2 * LEASE;
    ck_assert_uint_eq(scene_reclaim(&scene, claim.expires_at), 0);
    ck_assert_uint_eq(scene_reclaim(&scene, expires_at - 1), 0);
    scene_take_nothing(&scene, expires_at - 1);
    ASSERT_STATE(&scene, &id, JOB_RUNNING);

    /* And the new end is an end. */
    struct claim next = scene_take(&scene, expires_at);
    ASSERT_SAME_ID(&next.id, &id);
}
END_TEST

/* A pool that was told to use shorter leases by a reload. */
START_TEST(extend_by_less_ends_earlier)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct lease_beat lease = beat_of(&claim);
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = SECONDS(1)};
    struct lease_answer answer;
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene.store, &heartbeat, 1, NOW, &answer, &told, &err));
    scene_take_nothing(&scene, NOW + SECONDS(1) - 1);
    if (_i == 1)
        ck_assert_uint_eq(scene_reclaim(&scene, NOW + SECONDS(1)), 1);
    scene_take_this(&scene, &id, NOW + SECONDS(1));
}
END_TEST

/* What answers TH_OK has extended: also by a ref that leads elsewhere, as settling does. */
START_TEST(extend_by_a_ref_that_is_not_its_own_goes_by_the_id)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claim = scene_take(&scene, NOW), other = scene_take(&scene, NOW);
    claim.ref = other.ref;
    ASSERT_VERDICT(extend(&scene, &claim, NOW + SECONDS(20)).verdict, TH_OK);
    scene_take_this(&scene, &ids[1], NOW + LEASE);
    scene_take_nothing(&scene, NOW + LEASE);
}
END_TEST

static void assert_extension_refused(enum situation situation)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    usec_t now = 0;
    struct claim claim = refusal_stage(&scene, situation, &now);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);

    ASSERT_VERDICT(extend(&scene, &claim, now).verdict, refusal_expected(situation));
    claim.ref = 0;
    ASSERT_VERDICT(extend(&scene, &claim, now).verdict, refusal_expected(situation));
    assert_queue_unchanged(&scene, before);
}

START_TEST(extend_wrong_token_mismatch_unchanged)
{
    assert_extension_refused(WRONG_TOKEN);
}
END_TEST

START_TEST(extend_after_expiry_expired_unchanged)
{
    assert_extension_refused(EXPIRED);
}
END_TEST

START_TEST(extend_not_inflight)
{
    assert_extension_refused(NOT_INFLIGHT);
    assert_extension_refused(AFTER_DONE);
    assert_extension_refused(AFTER_DEAD);
}
END_TEST

START_TEST(extend_unknown_id_not_found)
{
    assert_extension_refused(UNKNOWN_ID);
}
END_TEST

START_TEST(extend_of_an_expired_lease_by_a_wrong_token_is_expired)
{
    assert_extension_refused(EXPIRED_AND_WRONG_TOKEN);
}
END_TEST

static const usec_t bad_durations[] = {0, -1, INT64_MIN};

START_TEST(extend_invalid_duration)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    struct lease_beat lease = beat_of(&claim);
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = bad_durations[_i]};
    struct lease_answer answer;
    struct error err = {0};
    struct pool_answer told;

    MUST_FAIL(TH_E_INVALID, store_heartbeat(scene.store, &heartbeat, 1, NOW, &answer, &told, &err));
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(extend_batch_reports_exactly_the_lost_ids)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    CLEANUP(job_list_done) struct job_list list = {0};
    struct reservation wanted = scene_wants(&scene, MANY);
    struct lease_beat leases[6];
    struct lease_answer answers[6];
    struct uuid ids[6];
    enum th_error_code expected[6] = {TH_OK,          TH_E_NOT_RUNNING,    TH_OK,
                                      TH_E_NOT_FOUND, TH_E_LEASE_MISMATCH, TH_OK};

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_reserve(&scene, &wanted, NOW, &taken);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct claim claim = claim_of(&scene, &taken.items[i]);
        if (expected[i] == TH_E_NOT_RUNNING)
            scene_finish(&scene, &claim, SETTLE_ACK, NOW);
        leases[i] = beat_of(&claim);
    }
    leases[3].job = uuid_make(&scene.ids, NOW);
    leases[3].ref = 0;
    leases[4].token.bytes[0] ^= 1;
    beat(&scene, leases, COUNT_OF(leases), NOW + 1, answers);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        const struct job *job = scene_get(&scene, &ids[i], &list);
        ASSERT_VERDICT(answers[i].verdict, expected[i]);
        if (expected[i] == TH_OK)
            ASSERT_TIME(job->expires_at, NOW + 1 + 2 * LEASE);
        else
            ASSERT_TIME(job->expires_at, expected[i] == TH_E_NOT_RUNNING ? 0 : NOW + LEASE);
    }
}
END_TEST

START_TEST(extend_after_reclaim_by_other_owner_is_mismatch)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);

    scene_take(&scene, lost.expires_at);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(extend(&scene, &lost, lost.expires_at).verdict, TH_E_LEASE_MISMATCH);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(a_beat_stores_progress_output_and_worker)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct lease_beat told = beat_of(&claim), quiet = beat_of(&claim);
    struct lease_answer answer;

    told.worker = 3;
    told.progress_percent = 40;
    told.progress_text = "resizing";
    told.output = (struct bytes){(const unsigned char *)"a\0b", 3};
    quiet.worker = 3;
    beat(&scene, &told, 1, NOW, &answer);
    beat(&scene, &quiet, 1, NOW, &answer); /* no change: what was told stays */
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->worker, 3);
    ck_assert_int_eq(job->progress_percent, 40);
    ck_assert_pstr_eq(job->progress_text, "resizing");
    ck_assert_uint_eq(job->output.length, 3);
    ck_assert_mem_eq(job->output.data, "a\0b", 3);
}
END_TEST

/* What a run that lost its lease has to tell is not told of the run that has it now. */
START_TEST(a_beat_of_a_lost_lease_stores_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);
    struct lease_beat late = beat_of(&lost);
    struct lease_answer answer = {0};

    late.worker = 9;
    late.progress_percent = 99;
    late.progress_text = "late";
    late.output = (struct bytes){(const unsigned char *)"late", 4};
    scene_take(&scene, lost.expires_at);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    beat(&scene, &late, 1, lost.expires_at, &answer);
    ASSERT_VERDICT(answer.verdict, TH_E_LEASE_MISMATCH);
    assert_unchanged(&scene, &id, before);
}
END_TEST

static bool beat_says_registered(struct scene *scene, usec_t now)
{
    const struct heartbeat heartbeat = {
        .pool = POOL,
        .lease_for = LEASE,
        .status = {(const unsigned char *)"{\"workers\":4}", 13},
    };
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene->store, &heartbeat, 1, now, NULL, &told, &err));
    return told.is_registered;
}

START_TEST(a_beat_keeps_the_pool_alive_and_says_when_it_was_removed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    CLEANUP(pool_list_done) struct pool_list silent = {0};
    struct error err = {0};

    ck_assert(!beat_says_registered(&scene, NOW));
    register_pool(&scene);
    ck_assert(beat_says_registered(&scene, NOW + 7));
    MUST(store_pool_remove_silent(scene.store, NOW + 7, &silent, &err));
    ck_assert_uint_eq(silent.count, 0);
    MUST(store_pools(scene.store, &pools, &err));
    ck_assert_uint_eq(pools.count, 1);
    ASSERT_TIME(pools.items[0].beat_at, NOW + 7);
    ASSERT_TIME(pools.items[0].started_at, NOW);
    ck_assert_uint_eq(pools.items[0].status.length, 13);
    MUST(store_pool_remove(scene.store, POOL, &err));
    ck_assert_msg(!beat_says_registered(&scene, NOW + 8), "a beat brought a removed pool back");
}
END_TEST

Suite *extend_suite(void)
{
    Suite *suite = suite_create("extend");
    TCase *lease = contract_group(suite, "lease");
    TCase *tell = contract_group(suite, "tell");

    tcase_add_loop_test(lease, extend_correct_token_extends_expiry, 0, 2);
    tcase_add_test(lease, extend_prevents_reclaim);
    tcase_add_loop_test(lease, extend_by_less_ends_earlier, 0, 2);
    tcase_add_test(lease, extend_by_a_ref_that_is_not_its_own_goes_by_the_id);
    tcase_add_test(lease, extend_wrong_token_mismatch_unchanged);
    tcase_add_test(lease, extend_after_expiry_expired_unchanged);
    tcase_add_test(lease, extend_not_inflight);
    tcase_add_test(lease, extend_unknown_id_not_found);
    tcase_add_test(lease, extend_of_an_expired_lease_by_a_wrong_token_is_expired);
    tcase_add_loop_test(lease, extend_invalid_duration, 0, COUNT_OF(bad_durations));
    tcase_add_test(lease, extend_batch_reports_exactly_the_lost_ids);
    tcase_add_test(lease, extend_after_reclaim_by_other_owner_is_mismatch);

    tcase_add_test(tell, a_beat_stores_progress_output_and_worker);
    tcase_add_test(tell, a_beat_of_a_lost_lease_stores_nothing);
    tcase_add_test(tell, a_beat_keeps_the_pool_alive_and_says_when_it_was_removed);
    return suite;
}
