/*
 * test_ack.c - a job is done, once.
 */
#include "companion.h"
#include "contract.h"
#include "refusal.h"

#include <stdlib.h>
#include <string.h>

START_TEST(ack_marks_done_and_is_idempotent_with_the_same_token)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);

    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW + 1), TH_OK);
    ASSERT_STATE(&scene, &id, JOB_DONE);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW + 2), TH_OK);
    ack.ref = 0;
    ASSERT_VERDICT(scene_settle(&scene, &ack, claim.expires_at + USEC_PER_DAY), TH_OK);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(ack_of_a_done_job_by_another_token_is_not_running)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);

    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ack.token.bytes[19] ^= 1;
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(another_kind_on_a_done_job_is_not_running)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement other = claim_settlement(&claim, (enum settlement_kind)_i);

    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &other, NOW), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &id, before);
}
END_TEST

static struct settlement ack_with_everything(const struct claim *claim)
{
    struct settlement ack = claim_settlement(claim, SETTLE_ACK);

    ack.result = (struct bytes){(const unsigned char *)"{\"ok\":1}", 8};
    ack.output = (struct bytes){(const unsigned char *)"bye\n\0", 5};
    ack.has_run = true;
    ack.run = (struct job_run){
        .execution = 1,
        .pool = POOL,
        .worker = 4,
        .started_at = NOW + 1,
        .wall = SECONDS(3) + 1,
        .user = SECONDS(2) + 2,
        .system = SECONDS(1) + 3,
        .max_rss_kb = 123456,
        .outcome = RUN_DONE,
        .exit_code = 0,
    };
    return ack;
}

START_TEST(ack_stores_result_output_and_run)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = ack_with_everything(&claim);

    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW + 1), TH_OK);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_uint_eq(job->result.length, 8);
    ck_assert_mem_eq(job->result.data, "{\"ok\":1}", 8);
    ck_assert_uint_eq(job->output.length, 5);
    ck_assert_mem_eq(job->output.data, "bye\n\0", 5);
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].execution, 1);
    ck_assert_str_eq(job->runs[0].pool, POOL);
    ck_assert_int_eq(job->runs[0].worker, 4);
    ASSERT_TIME(job->runs[0].started_at, NOW + 1);
    ASSERT_TIME(job->runs[0].wall, SECONDS(3) + 1);
    ASSERT_TIME(job->runs[0].user, SECONDS(2) + 2);
    ASSERT_TIME(job->runs[0].system, SECONDS(1) + 3);
    ck_assert_int_eq(job->runs[0].max_rss_kb, 123456);
    ck_assert_int_eq(job->runs[0].outcome, RUN_DONE);
    ck_assert_int_eq(job->runs[0].exit_code, 0);
}
END_TEST

/* Each byte there is, in no order that a store could know. */
static void fill(unsigned char *bytes, size_t length)
{
    uint32_t state = 1;

    for (size_t i = 0; i < length; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(state >> 24);
    }
}

static struct settlement settlement_of_kind(const struct claim *claim, enum settlement_kind kind)
{
    struct settlement settlement = claim_settlement(claim, kind);

    if (kind == SETTLE_RETRY) {
        settlement.run_at = NOW + SECONDS(60);
        settlement.error = "no";
        settlement.counts = true;
    }
    return settlement;
}

START_TEST(a_mebibyte_of_output_comes_back_as_it_was)
{
    static const enum settlement_kind kinds[] = {SETTLE_ACK, SETTLE_RETRY};
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    AUTO_FREE unsigned char *output = malloc(JOB_OUTPUT_MAX);
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement settlement = settlement_of_kind(&claim, kinds[_i]);

    ck_assert_ptr_nonnull(output);
    fill(output, JOB_OUTPUT_MAX);
    settlement.output = (struct bytes){output, JOB_OUTPUT_MAX};
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW + 1), TH_OK);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_uint_eq(job->output.length, JOB_OUTPUT_MAX);
    ck_assert(memcmp(job->output.data, output, JOB_OUTPUT_MAX) == 0);
}
END_TEST

/* With the store's own handle or without it, a job comes to the same end. */
START_TEST(ack_by_ref_and_by_id_record_the_same)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct claim claim = scene_take_this(&scene, &ids[i], NOW);
        struct settlement ack = ack_with_everything(&claim);
        ack.result = ack.output = (struct bytes){0};
        if (i == 1)
            ack.ref = 0;
        ASSERT_VERDICT(scene_cancel(&scene, &ids[i], NOW + 1), TH_OK);
        ASSERT_VERDICT(scene_settle(&scene, &ack, NOW + 2), TH_OK);
        scene_get(&scene, &ids[i], &list);
    }
    struct job *by_ref = &list.items[0], *by_id = &list.items[1];
    ASSERT_TIME(by_id->cancel_requested_at, NOW + 1);
    by_ref->id = by_id->id;
    by_ref->token = by_id->token;
    assert_same_record(by_ref, by_id);
}
END_TEST

/* What an ack does not tell of its execution is known from the lease. */
START_TEST(ack_without_a_run_records_the_same_by_ref_and_by_id)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct claim claim = scene_take_this(&scene, &ids[i], NOW);
        struct settlement ack = claim_settlement(&claim, SETTLE_ACK);
        ack.has_run = _i == 1;
        if (i == 1)
            ack.ref = 0;
        ASSERT_VERDICT(scene_settle(&scene, &ack, NOW + 2), TH_OK);
        scene_get(&scene, &ids[i], &list);
    }
    struct job *by_ref = &list.items[0], *by_id = &list.items[1];
    ASSERT_TIME(by_ref->started_at, NOW);
    by_ref->id = by_id->id;
    by_ref->token = by_id->token;
    assert_same_record(by_ref, by_id);
}
END_TEST

START_TEST(ack_clears_lease_fields)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    CLEANUP(job_list_done) struct job_list held = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct error err = {0};

    scene_finish(&scene, &claim, SETTLE_ACK, NOW + 1);
    const struct job *job = scene_get(&scene, &id, &list);
    ASSERT_TIME(job->expires_at, 0);
    ASSERT_TIME(job->ended_at, NOW + 1);
    MUST(store_held(scene.store, POOL, &held, &err));
    for (size_t i = 0; i < held.count; i++)
        ck_assert_int_ne(uuid_compare(&held.items[i].id, &id), 0);
}
END_TEST

START_TEST(ack_wrong_token_mismatch)
{
    assert_refused(SETTLE_ACK, WRONG_TOKEN);
}
END_TEST

START_TEST(ack_after_expiry)
{
    assert_refused(SETTLE_ACK, EXPIRED);
}
END_TEST

START_TEST(ack_after_expiry_then_new_owner_acks)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);
    struct settlement late = claim_settlement(&lost, SETTLE_ACK);
    usec_t now = lost.expires_at;

    ASSERT_VERDICT(scene_settle(&scene, &late, now), TH_E_LEASE_EXPIRED);
    struct claim claim = scene_take(&scene, now);
    scene_finish(&scene, &claim, SETTLE_ACK, now);
    ASSERT_STATE(&scene, &id, JOB_DONE);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &late, now), TH_E_NOT_RUNNING);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(ack_not_inflight)
{
    assert_refused(SETTLE_ACK, NOT_INFLIGHT);
}
END_TEST

START_TEST(ack_unknown_id_not_found)
{
    assert_refused(SETTLE_ACK, UNKNOWN_ID);
}
END_TEST

START_TEST(ack_stale_owner_cannot_touch_new_owner)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim lost = scene_take(&scene, NOW);
    struct settlement late = claim_settlement(&lost, SETTLE_ACK);

    scene_take(&scene, lost.expires_at);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &late, lost.expires_at), TH_E_LEASE_MISMATCH);
    late.ref = 0;
    ASSERT_VERDICT(scene_settle(&scene, &late, lost.expires_at), TH_E_LEASE_MISMATCH);
    assert_unchanged(&scene, &id, before);
}
END_TEST

/* A store may use its own handle of a removed job again; the id still tells who is meant. */
START_TEST(ack_of_a_removed_job_is_not_found_and_touches_nobody)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);

    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ASSERT_VERDICT(scene_remove(&scene, &id), TH_OK);
    struct uuid next = scene_add(&scene);
    scene_take(&scene, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &next);
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW), TH_E_NOT_FOUND);
    assert_unchanged(&scene, &next, before);
}
END_TEST

START_TEST(ack_increments_done_counter_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    ck_assert_int_eq(scene_stats(&scene).done_total, 0);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 0);
    ASSERT_VERDICT(scene_remove(&scene, &claim.id), TH_OK);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
}
END_TEST

START_TEST(ack_with_retention_zero_deletes)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct settlement_rules rules = {job_limits_default, retry_policy_default, true};
    const struct outcome done = {.kind = OUTCOME_DONE};
    struct uuid id = scene_add(&scene);
    struct reservation wanted = scene_wants(&scene, 1);

    scene_reserve(&scene, &wanted, NOW, &taken);
    struct settlement ack = settlement_decide(&taken.items[0], &done, &rules, NOW, 0);
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW), TH_OK);
    ck_assert(!scene_has(&scene, &id));
    ck_assert_uint_eq(scene_count(&scene), 0);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW), TH_E_NOT_FOUND);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
}
END_TEST

/* Progress and output by a beat, then the end by one of three ways. */
enum way_out { FORGOTTEN, REMOVED, PRUNED };

#define WAYS_OUT 3

static void tell_progress(struct scene *scene, const struct claim *claim)
{
    const struct lease_beat lease = {.job = claim->id,
                                     .queue = claim->queue,
                                     .token = claim->token,
                                     .ref = claim->ref,
                                     .worker = 1,
                                     .progress_percent = 50,
                                     .progress_text = "half",
                                     .output = {(const unsigned char *)"half\n", 5}};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer;
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene->store, &heartbeat, 1, NOW, &answer, &told, &err));
    ASSERT_VERDICT(answer.verdict, TH_OK);
}

static void leave(struct scene *scene, const struct claim *claim, enum way_out way)
{
    const struct retention nothing = {.done = 0, .done_max = SIZE_MAX, .dead = 0};
    struct settlement ack = claim_settlement(claim, SETTLE_ACK);
    struct error err = {0};
    size_t removed;

    ack.forget = way == FORGOTTEN;
    ack.has_run = true;
    ASSERT_VERDICT(scene_settle(scene, &ack, NOW), TH_OK);
    if (way == REMOVED)
        ASSERT_VERDICT(scene_remove(scene, &claim->id), TH_OK);
    if (way == PRUNED)
        MUST(store_prune(scene->store, &nothing, NOW, MANY, &removed, &err));
    ck_assert(!scene_has(scene, &claim->id));
}

START_TEST(a_job_that_is_gone_leaves_nothing_to_the_next_one)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    tell_progress(&scene, &claim);
    leave(&scene, &claim, (enum way_out)_i);

    struct uuid next = scene_add(&scene);
    const struct job *job = scene_get(&scene, &next, &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ck_assert_int_eq(job->progress_percent, -1);
    ck_assert_ptr_null(job->progress_text);
    ck_assert_ptr_null(job->output.data);
    ck_assert_uint_eq(job->run_count, 0);
    ck_assert_int_eq(job->executions, 0);
}
END_TEST

#define RACERS 8
#define RACED  50

/* All of the claims in one call, whose answer was lost, as far as each of them knows. */
static void ack_all(struct racer *racer)
{
    const struct claim *claims = racer->context;
    struct settlement acks[RACED];
    enum th_error_code verdicts[RACED];
    const struct settlement_list finished = {acks, RACED};
    struct error err = {0};

    for (size_t i = 0; i < RACED; i++) {
        acks[i] = claim_settlement(&claims[i], SETTLE_ACK);
        acks[i].queue = racer->scene->queue;
    }
    child_must(store_settle(racer->store, &finished, NOW, verdicts, &err), &err);
    for (size_t i = 0; i < RACED; i++)
        child_must(verdicts[i] == TH_OK, &(struct error){verdicts[i], "a repeated ack"});
}

START_TEST(an_ack_that_many_repeat_at_once_counts_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(buffer_done) struct buffer reports = {0};
    struct claim claims[RACED];
    struct uuid ids[RACED];

    scene_add_many(&scene, RACED, ids);
    for (size_t i = 0; i < RACED; i++)
        claims[i] = scene_take(&scene, NOW);
    race(&scene, RACERS, ack_all, claims, &reports);
    ck_assert_int_eq(scene_stats(&scene).done_total, RACED);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_DONE], RACED);
}
END_TEST

Suite *ack_suite(void)
{
    Suite *suite = suite_create("ack");
    TCase *group = contract_group(suite, "ack");

    tcase_add_test(group, ack_marks_done_and_is_idempotent_with_the_same_token);
    tcase_add_test(group, ack_of_a_done_job_by_another_token_is_not_running);
    tcase_add_loop_test(group, another_kind_on_a_done_job_is_not_running, SETTLE_RETRY,
                        SETTLE_CANCEL + 1);
    tcase_add_test(group, ack_stores_result_output_and_run);
    tcase_add_loop_test(group, a_mebibyte_of_output_comes_back_as_it_was, 0, 2);
    tcase_add_test(group, ack_by_ref_and_by_id_record_the_same);
    tcase_add_loop_test(group, ack_without_a_run_records_the_same_by_ref_and_by_id, 0, 2);
    tcase_add_test(group, ack_clears_lease_fields);
    tcase_add_test(group, ack_wrong_token_mismatch);
    tcase_add_test(group, ack_after_expiry);
    tcase_add_test(group, ack_after_expiry_then_new_owner_acks);
    tcase_add_test(group, ack_not_inflight);
    tcase_add_test(group, ack_unknown_id_not_found);
    tcase_add_test(group, ack_stale_owner_cannot_touch_new_owner);
    tcase_add_test(group, ack_of_a_removed_job_is_not_found_and_touches_nobody);
    tcase_add_test(group, ack_increments_done_counter_once);
    tcase_add_test(group, ack_with_retention_zero_deletes);
    tcase_add_loop_test(group, an_ack_that_many_repeat_at_once_counts_once, 0, 4);
    tcase_add_loop_test(group, a_job_that_is_gone_leaves_nothing_to_the_next_one, 0, WAYS_OUT);
    return suite;
}
