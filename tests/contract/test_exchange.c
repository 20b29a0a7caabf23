/*
 * test_exchange.c - many settlements in one call, and settling and reserving in one round trip.
 */
#include "contract.h"
#include "scene.h"

#include <string.h>

#define BATCH 6

/* Reserves `count` jobs of a batch, in order. */
static void take_many(struct scene *scene, size_t count, struct claim *claims)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, count);

    scene_reserve(scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, count);
    for (size_t i = 0; i < count; i++)
        claims[i] = claim_of(scene, &taken.items[i]);
}

START_TEST(one_bad_settlement_never_spoils_its_batch)
{
    static const enum settlement_kind kinds[BATCH] = {SETTLE_ACK,     SETTLE_RETRY,  SETTLE_FAIL,
                                                      SETTLE_RELEASE, SETTLE_SNOOZE, SETTLE_CANCEL};
    static const enum job_state states[BATCH] = {JOB_DONE,  JOB_RUNNING,   JOB_DEAD,
                                                 JOB_READY, JOB_SCHEDULED, JOB_CANCELLED};
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct settlement finished[BATCH];
    enum th_error_code verdicts[BATCH];
    const struct settlement_list list = {finished, BATCH};
    struct claim claims[BATCH];
    struct uuid ids[BATCH];
    struct error err = {0};

    scene_add_many(&scene, BATCH, ids);
    take_many(&scene, BATCH, claims);
    for (size_t i = 0; i < BATCH; i++)
        finished[i] = claim_settlement(&claims[i], kinds[i]);
    finished[1].token.bytes[3] ^= 1;
    AUTO_FREE char *before = scene_snapshot(&scene, &ids[1]);

    MUST(store_settle(scene.store, &list, NOW + 1, verdicts, &err));
    for (size_t i = 0; i < BATCH; i++) {
        ASSERT_VERDICT(verdicts[i], i == 1 ? TH_E_LEASE_MISMATCH : TH_OK);
        ASSERT_STATE(&scene, &ids[i], states[i]);
    }
    assert_unchanged(&scene, &ids[1], before);
}
END_TEST

/* The same job twice in a batch: the second one comes after the first. */
START_TEST(a_settlement_that_is_in_a_batch_twice_takes_effect_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    const struct settlement finished[] = {claim_settlement(&claim, SETTLE_RETRY),
                                          claim_settlement(&claim, SETTLE_RETRY)};
    const struct settlement_list both = {finished, 2};
    enum th_error_code verdicts[2];
    struct error err = {0};

    MUST(store_settle(scene.store, &both, NOW, verdicts, &err));
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_E_NOT_RUNNING);
    ck_assert_int_eq(scene_get(&scene, &id, &list)->attempts, 1);
}
END_TEST

START_TEST(exchange_settles_then_reserves)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[3];
    struct claim claims[2];
    struct error err = {0};
    enum th_error_code verdicts[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    take_many(&scene, 2, claims);
    const struct settlement finished[] = {claim_settlement(&claims[0], SETTLE_RELEASE),
                                          claim_settlement(&claims[1], SETTLE_ACK)};
    const struct settlement_list list = {finished, 2};
    struct reservation wanted = scene_wants(&scene, MANY);
    MUST(store_exchange(scene.store, &list, &wanted, 1, NOW + 1, verdicts, &taken, &err));
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_OK);

    /* What was released by the same call is there to be reserved again, at its old place. */
    ck_assert_uint_eq(taken.count, 2);
    ASSERT_SAME_ID(&taken.items[0].id, &ids[0]);
    ASSERT_SAME_ID(&taken.items[1].id, &ids[2]);
    ck_assert_int_eq(taken.items[0].executions, 2);
    ASSERT_STATE(&scene, &ids[1], JOB_DONE);
}
END_TEST

START_TEST(exchange_reserves_also_when_no_settlement_is_accepted)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[2];
    struct error err = {0};
    enum th_error_code verdict;

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);
    ack.token.bytes[0] ^= 1;
    AUTO_FREE char *before = scene_snapshot(&scene, &ids[0]);
    const struct settlement_list list = {&ack, 1};
    struct reservation wanted = scene_wants(&scene, MANY);
    MUST(store_exchange(scene.store, &list, &wanted, 1, NOW, &verdict, &taken, &err));
    ASSERT_VERDICT(verdict, TH_E_LEASE_MISMATCH);
    assert_unchanged(&scene, &ids[0], before);
    ck_assert_uint_eq(taken.count, 1);
    ASSERT_SAME_ID(&taken.items[0].id, &ids[1]);
}
END_TEST

START_TEST(exchange_that_is_invalid_settles_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);
    const struct settlement_list list = {&ack, 1};
    struct reservation wanted = scene_wants(&scene, 1);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    enum th_error_code verdict;
    struct error err = {0};

    wanted.lease_for = 0;
    MUST_FAIL(TH_E_INVALID,
              store_exchange(scene.store, &list, &wanted, 1, NOW, &verdict, &taken, &err));
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(settlements_of_several_queues_go_in_one_call)
{
    CLEANUP(scene_close) struct scene a = scene_open();
    CLEANUP(scene_close) struct scene b = scene_open();
    struct uuid in_a = scene_add(&a), in_b = scene_add(&b);
    struct claim claim_a = scene_take(&a, NOW), claim_b = scene_take(&b, NOW);
    const struct settlement finished[] = {claim_settlement(&claim_a, SETTLE_ACK),
                                          claim_settlement(&claim_b, SETTLE_FAIL)};
    const struct settlement_list list = {finished, 2};
    enum th_error_code verdicts[2];
    struct error err = {0};

    MUST(store_settle(a.store, &list, NOW, verdicts, &err));
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_OK);
    ASSERT_STATE(&a, &in_a, JOB_DONE);
    ASSERT_STATE(&b, &in_b, JOB_DEAD);
}
END_TEST

/* A settlement of this kind with all that can come with one. */
static struct settlement full_settlement(const struct claim *claim, enum settlement_kind kind)
{
    static const unsigned char told[] = {'t', 'o', 'l', 'd'};
    struct settlement settlement = claim_settlement(claim, kind);

    settlement.result = settlement.output = (struct bytes){told, sizeof told};
    settlement.has_run = true;
    settlement.run = (struct job_run){.execution = 1,
                                      .pool = POOL,
                                      .worker = 7,
                                      .started_at = NOW + 5,
                                      .wall = 11,
                                      .user = 12,
                                      .system = 13,
                                      .max_rss_kb = 14,
                                      .exit_code = kind == SETTLE_ACK ? 0 : 3};
    if (kind == SETTLE_RETRY || kind == SETTLE_FAIL) {
        settlement.counts = true;
        settlement.error = settlement.run.error = "it failed";
    }
    return settlement;
}

static void blank(char *record, const char *before, const char *end)
{
    char *at = strstr(record, before);

    ck_assert_ptr_nonnull(at);
    at += strlen(before);
    memset(at, '-', strcspn(at, end));
}

/* The record without what two jobs cannot have in common. */
static char *comparable(struct scene *scene, const struct uuid *id)
{
    char *record = scene_snapshot(scene, id);

    blank(record, "\"id\":\"", "\"");
    blank(record, "token ", " ");
    return record;
}

START_TEST(settlements_that_come_together_leave_what_each_of_them_leaves_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct settlement finished[2 * BATCH];
    enum th_error_code verdicts[2 * BATCH];
    const struct settlement_list together = {finished + BATCH, BATCH};
    struct claim claims[2 * BATCH];
    struct uuid ids[2 * BATCH];
    struct error err = {0};

    scene_add_many(&scene, 2 * BATCH, ids);
    take_many(&scene, 2 * BATCH, claims);
    for (size_t i = 0; i < 2 * BATCH; i++)
        finished[i] = full_settlement(&claims[i], (enum settlement_kind)(i % BATCH));
    for (size_t i = 0; i < BATCH; i++)
        ASSERT_VERDICT(scene_settle(&scene, &finished[i], NOW + 9), TH_OK);
    MUST(store_settle(scene.store, &together, NOW + 9, verdicts, &err));
    for (size_t i = 0; i < BATCH; i++) {
        AUTO_FREE char *alone = comparable(&scene, &ids[i]);
        AUTO_FREE char *among_others = comparable(&scene, &ids[BATCH + i]);
        ASSERT_VERDICT(verdicts[i], TH_OK);
        ck_assert_str_eq(among_others, alone);
    }
}
END_TEST

Suite *exchange_suite(void)
{
    Suite *suite = suite_create("exchange");
    TCase *group = contract_group(suite, "exchange");

    tcase_add_test(group, one_bad_settlement_never_spoils_its_batch);
    tcase_add_test(group, a_settlement_that_is_in_a_batch_twice_takes_effect_once);
    tcase_add_test(group, settlements_that_come_together_leave_what_each_of_them_leaves_alone);
    tcase_add_test(group, exchange_settles_then_reserves);
    tcase_add_test(group, exchange_reserves_also_when_no_settlement_is_accepted);
    tcase_add_test(group, exchange_that_is_invalid_settles_nothing);
    tcase_add_test(group, settlements_of_several_queues_go_in_one_call);
    return suite;
}
