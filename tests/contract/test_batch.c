/*
 * test_batch.c - leases that one reserve has given to many plain jobs: how they end.
 *
 * A store may keep them together; nobody can tell. Whatever happens to one of them happens to it
 * alone.
 */
#include "batch.h"
#include "contract.h"

/* ---- acks ---- */

START_TEST(members_acknowledged_by_two_calls_are_done)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();

    batch_ack_some(batch, 0, 2, false);
    batch_assert_running(batch, HALF);
    for (size_t i = 0; i < MEMBERS; i++) {
        if (i % 2 == 0)
            batch_assert_done(&batch->scene, &batch->ids[i]);
        else
            ASSERT_STATE(&batch->scene, &batch->ids[i], JOB_RUNNING);
    }
    batch_ack_some(batch, 1, 2, false);
    batch_assert_running(batch, 0);
    for (size_t i = 0; i < MEMBERS; i++)
        batch_assert_done(&batch->scene, &batch->ids[i]);
    ck_assert_int_eq(scene_stats(&batch->scene).done_total, MEMBERS);
}
END_TEST

START_TEST(members_that_are_forgotten_take_no_neighbour_with_them)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct uuid next = scene_add(&batch->scene);

    batch_ack_some(batch, 0, 3, true);
    for (size_t i = 0; i < MEMBERS; i++)
        ck_assert_int_eq(scene_has(&batch->scene, &batch->ids[i]), i % 3 != 0);
    batch_ack_some(batch, 1, 3, true);
    batch_ack_some(batch, 2, 3, true);
    batch_assert_running(batch, 0);
    ck_assert_uint_eq(scene_count(&batch->scene), 1);
    ASSERT_STATE(&batch->scene, &next, JOB_READY);
    ck_assert_int_eq(scene_stats(&batch->scene).done_total, MEMBERS);
}
END_TEST

START_TEST(a_member_acknowledged_again_is_a_success_and_no_second_one)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct settlement ack = batch_plain_ack(&batch->claims[3]);

    ASSERT_VERDICT(scene_settle(&batch->scene, &ack, NOW + 10), TH_OK);
    AUTO_FREE char *before = scene_snapshot_queue(&batch->scene);
    ASSERT_VERDICT(scene_settle(&batch->scene, &ack, NOW + 11), TH_OK);
    assert_queue_unchanged(&batch->scene, before);
    ck_assert_int_eq(scene_stats(&batch->scene).done_total, 1);
    batch_assert_running(batch, MEMBERS - 1);
}
END_TEST

START_TEST(a_member_acknowledged_twice_in_one_call_is_done_once)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct settlement acks[3] = {batch_plain_ack(&batch->claims[3]),
                                 batch_plain_ack(&batch->claims[3]),
                                 batch_plain_ack(&batch->claims[4])};
    enum th_error_code verdicts[3];

    for (size_t i = 0; i < COUNT_OF(acks); i++)
        acks[i].forget = _i == 1;
    batch_settle(&batch->scene, acks, COUNT_OF(acks), NOW + 10, verdicts);
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], _i == 1 ? TH_E_NOT_FOUND : TH_OK);
    ASSERT_VERDICT(verdicts[2], TH_OK);
    ck_assert_int_eq(scene_stats(&batch->scene).done_total, 2);
    batch_assert_running(batch, MEMBERS - 2);
}
END_TEST

/* ---- refusals ---- */

static void swap_index(struct settlement *ack, const struct batch *batch)
{
    ack->token = batch->claims[8].token;
}

static void leave_the_batch(struct settlement *ack, const struct batch *batch)
{
    (void)batch;
    ack->token.bytes[LEASE_TOKEN_SIZE - 2] = 9;
}

static void change_the_batch(struct settlement *ack, const struct batch *batch)
{
    (void)batch;
    ack->token.bytes[5] ^= 1;
}

static void (*const forgeries[])(struct settlement *ack, const struct batch *batch) = {
    swap_index, leave_the_batch, change_the_batch};

/* Whoever names a member has to have its own token, and spoils nothing for the others. */
START_TEST(a_member_with_a_wrong_token_is_refused_and_the_others_are_not)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct settlement acks[3] = {batch_plain_ack(&batch->claims[6]),
                                 batch_plain_ack(&batch->claims[7]),
                                 batch_plain_ack(&batch->claims[9])};
    enum th_error_code verdicts[3];
    AUTO_FREE char *before = scene_snapshot(&batch->scene, &batch->ids[7]);

    forgeries[_i](&acks[1], batch);
    batch_settle(&batch->scene, acks, COUNT_OF(acks), NOW + 10, verdicts);
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_E_LEASE_MISMATCH);
    ASSERT_VERDICT(verdicts[2], TH_OK);
    assert_unchanged(&batch->scene, &batch->ids[7], before);
    ASSERT_STATE(&batch->scene, &batch->ids[8], JOB_RUNNING);
    batch_assert_running(batch, MEMBERS - 2);
    struct settlement own = batch_plain_ack(&batch->claims[7]);
    ASSERT_VERDICT(scene_settle(&batch->scene, &own, NOW + 10), TH_OK);
    batch_assert_done(&batch->scene, &batch->ids[7]);
}
END_TEST

START_TEST(members_of_a_batch_that_ran_out_are_refused)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct settlement acks[MEMBERS];
    enum th_error_code verdicts[MEMBERS];
    AUTO_FREE char *before = scene_snapshot_queue(&batch->scene);

    for (size_t i = 0; i < MEMBERS; i++)
        acks[i] = batch_plain_ack(&batch->claims[i]);
    batch_settle(&batch->scene, acks, MEMBERS, NOW + LEASE, verdicts);
    for (size_t i = 0; i < MEMBERS; i++)
        ASSERT_VERDICT(verdicts[i], TH_E_LEASE_EXPIRED);
    assert_queue_unchanged(&batch->scene, before);
    batch_settle(&batch->scene, acks, MEMBERS, NOW + LEASE - 1, verdicts);
    for (size_t i = 0; i < MEMBERS; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
    batch_assert_running(batch, 0);
}
END_TEST

/* ---- what needs a lease of its own ---- */

static const struct {
    enum settlement_kind kind;
    enum job_state state;
} ends[] = {
    {SETTLE_RETRY, JOB_RETRY},      {SETTLE_FAIL, JOB_DEAD},        {SETTLE_RELEASE, JOB_READY},
    {SETTLE_SNOOZE, JOB_SCHEDULED}, {SETTLE_CANCEL, JOB_CANCELLED}, {SETTLE_ASIDE, JOB_READY},
    {SETTLE_ACK, JOB_DONE},
};

/* Among plain acks, and the last one is an ack that has something to tell. */
START_TEST(members_may_end_in_every_way_in_one_call)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct settlement finished[MEMBERS];
    enum th_error_code verdicts[MEMBERS];
    const size_t count = COUNT_OF(ends);

    for (size_t i = 0; i < 2 * count; i++)
        finished[i] = i % 2 == 1 ? batch_plain_ack(&batch->claims[i])
                                 : claim_settlement(&batch->claims[i], ends[i / 2].kind);
    finished[2 * count - 2].result = (struct bytes){(const unsigned char *)"5", 1};
    batch_settle(&batch->scene, finished, 2 * count, NOW + 10, verdicts);
    for (size_t i = 0; i < 2 * count; i++) {
        ASSERT_VERDICT(verdicts[i], TH_OK);
        if (i % 2 == 1)
            batch_assert_done(&batch->scene, &batch->ids[i]);
        else
            ASSERT_STATE(&batch->scene, &batch->ids[i], ends[i / 2].state);
    }
    ck_assert_uint_eq(scene_get(&batch->scene, &batch->ids[2 * count - 2], &list)->result.length,
                      1);
    batch_assert_running(batch, MEMBERS - 2 * count);
    batch_ack_some(batch, 2 * count, 1, _i == 1);
    batch_assert_running(batch, 0);
}
END_TEST

/* Settling twice is a success, and counts once. */
START_TEST(a_member_that_failed_once_or_twice_is_not_acknowledged)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct settlement finished[2] = {claim_settlement(&batch->claims[2], SETTLE_FAIL),
                                     claim_settlement(&batch->claims[2], SETTLE_FAIL)};
    enum th_error_code verdicts[2];

    batch_settle(&batch->scene, finished, 2, NOW + 10, verdicts);
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_OK);
    struct settlement ack = batch_plain_ack(&batch->claims[2]);
    ASSERT_VERDICT(scene_settle(&batch->scene, &ack, NOW + 10), TH_E_NOT_RUNNING);
    ASSERT_STATE(&batch->scene, &batch->ids[2], JOB_DEAD);
    ck_assert_int_eq(scene_stats(&batch->scene).failed_total, 1);
    batch_assert_running(batch, MEMBERS - 1);
}
END_TEST

START_TEST(a_member_given_back_unstarted_after_the_end_is_taken)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct settlement release = claim_settlement(&batch->claims[5], SETTLE_RELEASE);

    ASSERT_VERDICT(scene_settle(&batch->scene, &release, NOW + LEASE + 1), TH_OK);
    const struct job *job = scene_get(&batch->scene, &batch->ids[5], &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ck_assert_int_eq(job->stalls, 0);
    batch_assert_running(batch, MEMBERS - 1);
}
END_TEST

START_TEST(a_member_that_is_cancelled_is_told_and_the_others_run_on)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct settlement retry = claim_settlement(&batch->claims[4], SETTLE_RETRY);

    ASSERT_VERDICT(scene_cancel(&batch->scene, &batch->ids[4], NOW + 5), TH_OK);
    batch_assert_running(batch, MEMBERS);
    const struct job *job = scene_get(&batch->scene, &batch->ids[4], &list);
    ASSERT_TIME(job->cancel_requested_at, NOW + 5);
    ASSERT_TIME(job->expires_at, batch->claims[4].expires_at);
    ASSERT_TIME(job->started_at, NOW);
    ck_assert_str_eq(job->pool, POOL);
    ck_assert(lease_token_equal(&job->token, &batch->claims[4].token));
    ck_assert_int_eq(scene_get(&batch->scene, &batch->ids[5], &list)->cancel_requested_at, 0);
    ASSERT_VERDICT(scene_settle(&batch->scene, &retry, NOW + 10), TH_OK);
    ASSERT_STATE(&batch->scene, &batch->ids[4], JOB_CANCELLED);
    batch_assert_running(batch, MEMBERS - 1);
}
END_TEST

START_TEST(a_member_that_was_cancelled_and_ends_well_is_done_and_says_what_was_asked)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};

    ASSERT_VERDICT(scene_cancel(&batch->scene, &batch->ids[4], NOW + 5), TH_OK);
    batch_ack_some(batch, 0, 1, false);
    for (size_t i = 0; i < MEMBERS; i++) {
        batch_assert_done(&batch->scene, &batch->ids[i]);
        ASSERT_TIME(scene_get(&batch->scene, &batch->ids[i], &list)->cancel_requested_at,
                    i == 4 ? NOW + 5 : 0);
    }
}
END_TEST

/* What a member has told by its heartbeat stays with it when it is acknowledged plainly. */
START_TEST(a_beat_for_one_member_extends_it_alone)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct claim *claim = &batch->claims[11];
    const struct lease_beat beat = {.job = claim->id,
                                    .queue = claim->queue,
                                    .token = claim->token,
                                    .ref = claim->ref,
                                    .worker = 3,
                                    .progress_percent = 40};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &beat, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer;
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(batch->scene.store, &heartbeat, 1, NOW + 5, &answer, &told, &err));
    ASSERT_VERDICT(answer.verdict, TH_OK);
    batch_assert_running(batch, MEMBERS);
    const struct job *job = scene_get(&batch->scene, &batch->ids[11], &list);
    ASSERT_TIME(job->expires_at, NOW + 5 + LEASE);
    ASSERT_TIME(job->started_at, NOW);
    ck_assert_int_eq(job->worker, 3);
    ASSERT_TIME(scene_get(&batch->scene, &batch->ids[12], &list)->expires_at, NOW + LEASE);
    ck_assert_uint_eq(scene_reclaim(&batch->scene, NOW + LEASE), MEMBERS - 1);
    struct settlement ack = batch_plain_ack(claim);
    ASSERT_VERDICT(scene_settle(&batch->scene, &ack, NOW + LEASE), TH_OK);
    ck_assert_int_eq(scene_get(&batch->scene, &batch->ids[11], &list)->progress_percent, 40);
    batch_assert_running(batch, 0);
}
END_TEST

START_TEST(beats_for_all_members_extend_them_all)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct lease_beat beats[MEMBERS];
    struct lease_answer answers[MEMBERS];
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = beats, .lease_count = MEMBERS, .lease_for = LEASE};
    struct error err = {0};
    struct pool_answer told;

    for (size_t i = 0; i < MEMBERS; i++)
        beats[i] = (struct lease_beat){.job = batch->ids[i],
                                       .queue = batch->scene.queue,
                                       .token = batch->claims[i].token,
                                       .ref = _i == 1 ? 0 : batch->claims[i].ref,
                                       .progress_percent = -1};
    MUST(store_heartbeat(batch->scene.store, &heartbeat, 1, NOW + 5, answers, &told, &err));
    for (size_t i = 0; i < MEMBERS; i++)
        ASSERT_VERDICT(answers[i].verdict, TH_OK);
    ck_assert_uint_eq(scene_reclaim(&batch->scene, NOW + LEASE), 0);
    batch_assert_running(batch, MEMBERS);
    batch_ack_some(batch, 0, 1, false);
    batch_assert_running(batch, 0);
}
END_TEST

/* ---- cancelled by somebody who has not committed that yet ---- */

/* Answers whether the job of the claim, if there is one, shall be cancelled. */
static bool beat(struct batch *batch, const struct claim *claim, usec_t now)
{
    struct lease_beat lease = {.progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = claim ? 1 : 0, .lease_for = LEASE};
    struct lease_answer answer = {.verdict = TH_OK};
    struct error err = {0};
    struct pool_answer told;

    if (claim) {
        lease.job = claim->id;
        lease.queue = claim->queue;
        lease.token = claim->token;
        lease.ref = claim->ref;
    }
    MUST(store_heartbeat(batch->scene.store, &heartbeat, 1, now, &answer, &told, &err));
    ASSERT_VERDICT(answer.verdict, TH_OK);
    return answer.cancel_requested;
}

/* One of the batch's members. NULL: there is no such way. */
static void *begin_cancel(const struct batch *batch)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;

    return backdoor->cancel ? backdoor->cancel(batch->scene.url, &batch->ids[4]) : NULL;
}

static void commit(void *transaction)
{
    scene_backend()->backdoor->commit(transaction);
}

START_TEST(a_cancel_that_is_not_committed_keeps_no_member_from_its_end)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    void *transaction = begin_cancel(batch);

    if (!transaction)
        return;
    batch_ack_some(batch, 0, 1, false);
    commit(transaction);
    ck_assert(!beat(batch, NULL, NOW + 20));
    for (size_t i = 0; i < MEMBERS; i++)
        batch_assert_done(&batch->scene, &batch->ids[i]);
    batch_assert_running(batch, 0);
}
END_TEST

START_TEST(a_member_that_came_back_before_the_cancel_was_committed_is_cancelled)
{
    static const enum settlement_kind kinds[] = {SETTLE_RETRY, SETTLE_SNOOZE, SETTLE_RELEASE,
                                                 SETTLE_ASIDE};
    const enum settlement_kind kind = kinds[_i % (int)COUNT_OF(kinds)];
    const bool runs_again = _i >= (int)COUNT_OF(kinds);
    struct claim again;

    if (runs_again && kind != SETTLE_RELEASE)
        return;
    CLEANUP(batch_close) struct batch *batch = batch_open();
    void *transaction = begin_cancel(batch);
    if (!transaction)
        return;
    scene_finish(&batch->scene, &batch->claims[4], kind, NOW + 10);
    if (runs_again)
        again = scene_take_this(&batch->scene, &batch->ids[4], NOW + 11);
    commit(transaction);
    ck_assert(!beat(batch, NULL, NOW + 20));
    if (runs_again) {
        ck_assert(beat(batch, &again, NOW + 21));
        batch_assert_running(batch, MEMBERS);
    } else {
        ASSERT_STATE(&batch->scene, &batch->ids[4], JOB_CANCELLED);
        batch_assert_running(batch, MEMBERS - 1);
    }
}
END_TEST

START_TEST(a_member_that_was_extended_before_the_cancel_was_committed_is_told)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    void *transaction = begin_cancel(batch);

    if (!transaction)
        return;
    ck_assert(!beat(batch, &batch->claims[4], NOW + 5));
    commit(transaction);
    ck_assert(beat(batch, &batch->claims[4], NOW + 6));
    ck_assert(!beat(batch, &batch->claims[5], NOW + 7));
    batch_assert_running(batch, MEMBERS);
}
END_TEST

START_TEST(a_member_that_was_brought_back_by_hand_is_not_cancelled_for_what_was_asked_before)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    void *transaction = begin_cancel(batch);

    if (!transaction)
        return;
    scene_finish(&batch->scene, &batch->claims[4], SETTLE_FAIL, NOW + 10);
    commit(transaction);
    ASSERT_VERDICT(scene_requeue(&batch->scene, &batch->ids[4], 0, NOW + 11), TH_OK);
    ck_assert(!beat(batch, NULL, NOW + 20));
    ASSERT_STATE(&batch->scene, &batch->ids[4], JOB_READY);
}
END_TEST

Suite *batch_suite(void)
{
    Suite *suite = suite_create("batch");
    TCase *acks = contract_group(suite, "acks");
    TCase *alone = contract_group(suite, "alone");
    TCase *cancelled = contract_group(suite, "cancelled");

    tcase_add_test(acks, members_acknowledged_by_two_calls_are_done);
    tcase_add_test(acks, members_that_are_forgotten_take_no_neighbour_with_them);
    tcase_add_test(acks, a_member_acknowledged_again_is_a_success_and_no_second_one);
    tcase_add_loop_test(acks, a_member_acknowledged_twice_in_one_call_is_done_once, 0, 2);
    tcase_add_loop_test(acks, a_member_with_a_wrong_token_is_refused_and_the_others_are_not, 0,
                        COUNT_OF(forgeries));
    tcase_add_test(acks, members_of_a_batch_that_ran_out_are_refused);
    tcase_add_loop_test(alone, members_may_end_in_every_way_in_one_call, 0, 2);
    tcase_add_test(alone, a_member_that_failed_once_or_twice_is_not_acknowledged);
    tcase_add_test(alone, a_member_given_back_unstarted_after_the_end_is_taken);
    tcase_add_test(alone, a_member_that_is_cancelled_is_told_and_the_others_run_on);
    tcase_add_test(alone,
                   a_member_that_was_cancelled_and_ends_well_is_done_and_says_what_was_asked);
    tcase_add_test(alone, a_beat_for_one_member_extends_it_alone);
    tcase_add_loop_test(alone, beats_for_all_members_extend_them_all, 0, 2);
    tcase_add_test(cancelled, a_cancel_that_is_not_committed_keeps_no_member_from_its_end);
    tcase_add_loop_test(cancelled,
                        a_member_that_came_back_before_the_cancel_was_committed_is_cancelled, 0, 8);
    tcase_add_test(cancelled, a_member_that_was_extended_before_the_cancel_was_committed_is_told);
    tcase_add_test(
        cancelled,
        a_member_that_was_brought_back_by_hand_is_not_cancelled_for_what_was_asked_before);
    return suite;
}
