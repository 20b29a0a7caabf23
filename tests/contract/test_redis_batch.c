/*
 * test_redis_batch.c - leases that a reserve has given together, where one record holds them all:
 * each goes its own way, and when the record is damaged its jobs are not lost with it.
 */
#include "contract.h"
#include "scene.h"

#define TOGETHER 24 /* enough for one lease on every backend */

struct troupe {
    struct scene scene;
    struct claim claims[TOGETHER];
};

static void troupe_close(struct troupe *troupe)
{
    scene_close(&troupe->scene);
}

/* The claims point into it. */
static void troupe_open(struct troupe *troupe)
{
    struct uuid ids[TOGETHER];
    CLEANUP(job_list_done) struct job_list taken = {0};

    troupe->scene = scene_open_fresh();
    scene_add_many(&troupe->scene, TOGETHER, ids);
    const struct reservation wanted = scene_wants(&troupe->scene, TOGETHER);
    scene_reserve(&troupe->scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, TOGETHER);
    for (size_t i = 0; i < TOGETHER; i++)
        troupe->claims[i] = claim_of(&troupe->scene, &taken.items[i]);
}

static void assert_running(struct troupe *troupe, size_t expected)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    CLEANUP(job_list_done) struct job_list listed = {0};
    const struct job_filter running = {.by_state = true, .state = JOB_RUNNING, .limit = MANY};
    struct error err = {0};

    ck_assert_uint_eq((size_t)scene_stats(&troupe->scene).jobs[JOB_RUNNING], expected);
    MUST(store_held(troupe->scene.store, POOL, &held, &err));
    ck_assert_uint_eq(held.count, expected);
    scene_list(&troupe->scene, &running, &listed);
    ck_assert_uint_eq(listed.count, expected);
}

static void assert_sound(struct troupe *troupe)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;
    char why[256] = "";

    if (backdoor->is_sound)
        ck_assert_msg(backdoor->is_sound(troupe->scene.url, why, sizeof why), "%s", why);
}

static enum th_error_code extend(struct troupe *troupe, const struct claim *claim, usec_t now)
{
    const struct lease_beat lease = {.job = claim->id,
                                     .queue = troupe->scene.queue,
                                     .token = claim->token,
                                     .ref = claim->ref,
                                     .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer;
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(troupe->scene.store, &heartbeat, 1, now, &answer, &told, &err));
    return answer.verdict;
}

START_TEST(each_lease_of_a_batch_goes_its_own_way)
{
    static const enum settlement_kind kinds[] = {SETTLE_ACK,     SETTLE_RETRY,  SETTLE_FAIL,
                                                 SETTLE_RELEASE, SETTLE_SNOOZE, SETTLE_CANCEL};
    static const enum job_state states[] = {JOB_DONE,  JOB_RETRY,     JOB_DEAD,
                                            JOB_READY, JOB_SCHEDULED, JOB_CANCELLED};
    CLEANUP(troupe_close) struct troupe troupe;
    struct claim *claims = troupe.claims;

    troupe_open(&troupe);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        scene_finish(&troupe.scene, &claims[i], kinds[i], NOW);
        ASSERT_STATE(&troupe.scene, &claims[i].id, states[i]);
        assert_running(&troupe, TOGETHER - 1 - i);
        assert_sound(&troupe);
    }
    ASSERT_VERDICT(scene_cancel(&troupe.scene, &claims[10].id, NOW), TH_OK);
    ASSERT_VERDICT(extend(&troupe, &claims[11], NOW + SECONDS(1)), TH_OK);
    assert_running(&troupe, TOGETHER - COUNT_OF(kinds));
    assert_sound(&troupe);
    ck_assert_uint_eq(scene_reclaim(&troupe.scene, NOW + LEASE), TOGETHER - COUNT_OF(kinds) - 1);
    ASSERT_STATE(&troupe.scene, &claims[10].id, JOB_CANCELLED);
    ASSERT_STATE(&troupe.scene, &claims[11].id, JOB_RUNNING);
    ASSERT_STATE(&troupe.scene, &claims[12].id, JOB_READY);
    assert_sound(&troupe);
}
END_TEST

START_TEST(a_token_of_a_batch_is_that_of_one_job)
{
    CLEANUP(troupe_close) struct troupe troupe;

    troupe_open(&troupe);
    struct claim wrong = troupe.claims[0];
    wrong.token = troupe.claims[1].token;
    const struct settlement settlement = claim_settlement(&wrong, SETTLE_ACK);
    ASSERT_VERDICT(scene_settle(&troupe.scene, &settlement, NOW), TH_E_LEASE_MISMATCH);
    assert_running(&troupe, TOGETHER);
}
END_TEST

START_TEST(an_ack_of_a_batch_that_is_repeated_is_taken_once)
{
    CLEANUP(troupe_close) struct troupe troupe;
    struct settlement settlements[TOGETHER + 1];
    enum th_error_code verdicts[TOGETHER + 1];
    struct error err = {0};

    troupe_open(&troupe);
    for (size_t i = 0; i < TOGETHER; i++)
        settlements[i] = claim_settlement(&troupe.claims[i], SETTLE_ACK);
    settlements[TOGETHER] = settlements[0];
    const struct settlement_list finished = {settlements, TOGETHER + 1};
    for (int times = 0; times < 2; times++) {
        MUST(store_settle(troupe.scene.store, &finished, NOW, verdicts, &err));
        for (size_t i = 0; i < COUNT_OF(verdicts); i++)
            ASSERT_VERDICT(verdicts[i], TH_OK);
        ck_assert_int_eq(scene_stats(&troupe.scene).jobs[JOB_DONE], TOGETHER);
        assert_sound(&troupe);
    }
}
END_TEST

/* What is damaged of a batch, and how many of its jobs come back by themselves. */
static const struct {
    const char *key, *way;
    size_t back;
} damages[] = {
    {"batch", "garbage", TOGETHER},      {"batch", "gone", TOGETHER}, {"batch", "half", TOGETHER},
    {"batch_ids", "half", TOGETHER / 2}, {"batch_ids", "gone", 0},
};

START_TEST(jobs_of_a_damaged_batch_come_back_if_they_can_be_told)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;
    const struct damage damage = {.what = damages[_i].key,
                                  .kind = "hash",
                                  .key = damages[_i].key,
                                  .name = "",
                                  .way = damages[_i].way};

    if (!backdoor->damage)
        return;
    CLEANUP(troupe_close) struct troupe troupe;
    troupe_open(&troupe);
    backdoor->do_damage(troupe.scene.url, troupe.scene.queue, &troupe.claims[0].id, &damage);
    ck_assert_uint_eq(scene_reclaim(&troupe.scene, NOW + LEASE), damages[_i].back);
    ck_assert_uint_eq((size_t)scene_stats(&troupe.scene).jobs[JOB_READY], damages[_i].back);
    ck_assert_int_eq(scene_stats(&troupe.scene).jobs[JOB_RUNNING], 0);
    for (size_t i = 0; i < TOGETHER; i++)
        ASSERT_VERDICT(scene_cancel(&troupe.scene, &troupe.claims[i].id, NOW + LEASE), TH_OK);
    assert_sound(&troupe);
}
END_TEST

Suite *redis_batch_suite(void)
{
    Suite *suite = suite_create("redis_batch");
    TCase *leases = contract_group(suite, "leases");
    TCase *damage = contract_group(suite, "damage");

    tcase_add_test(leases, each_lease_of_a_batch_goes_its_own_way);
    tcase_add_test(leases, a_token_of_a_batch_is_that_of_one_job);
    tcase_add_test(leases, an_ack_of_a_batch_that_is_repeated_is_taken_once);
    tcase_add_loop_test(damage, jobs_of_a_damaged_batch_come_back_if_they_can_be_told, 0,
                        COUNT_OF(damages));
    return suite;
}
