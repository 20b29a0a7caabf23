/*
 * test_batched.c - jobs that were reserved together: each has a lease of its own, however a store
 * keeps them.
 */
#include "contract.h"
#include "scene.h"

#include <string.h>

#define BATCH 20 /* more than any store keeps one by one */
#define HALF  (BATCH / 2)

struct members {
    struct uuid ids[BATCH];
    struct claim claims[BATCH];
};

/* Reserves what the scene's queue has, at NOW. */
static void take(struct scene *scene, struct members *members)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, BATCH);

    scene_add_many(scene, BATCH, members->ids);
    scene_reserve(scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, BATCH);
    for (size_t i = 0; i < BATCH; i++) {
        ASSERT_SAME_ID(&taken.items[i].id, &members->ids[i]);
        members->claims[i] = claim_of(scene, &taken.items[i]);
    }
}

/* Acks of members from `first` on, in one call. */
static void ack(struct scene *scene, const struct members *members, size_t first, size_t count,
                bool forget, usec_t now, enum th_error_code *verdicts)
{
    struct settlement finished[BATCH];
    const struct settlement_list list = {finished, count};
    struct error err = {0};

    for (size_t i = 0; i < count; i++) {
        finished[i] = claim_settlement(&members->claims[first + i], SETTLE_ACK);
        finished[i].forget = forget;
    }
    MUST(store_settle(scene->store, &list, now, verdicts, &err));
}

static void assert_all(const enum th_error_code *verdicts, size_t count,
                       enum th_error_code expected)
{
    for (size_t i = 0; i < count; i++)
        ASSERT_VERDICT(verdicts[i], expected);
}

static void extend(struct scene *scene, const struct claim *claim, usec_t now)
{
    const struct lease_beat lease = {.job = claim->id,
                                     .queue = claim->queue,
                                     .token = claim->token,
                                     .ref = claim->ref,
                                     .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer = {.verdict = TH_E_INTERNAL};
    struct error err = {0};
    bool registered;

    MUST(store_heartbeat(scene->store, &heartbeat, now, &answer, &registered, &err));
    ASSERT_VERDICT(answer.verdict, TH_OK);
}

static void assert_sound(struct scene *scene)
{
    char why[256];

    ck_assert_msg(scene_backend()->backdoor->is_sound(scene->url, why, sizeof why), "%s", why);
}

START_TEST(acks_of_one_batch_may_come_in_several_calls)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    ack(&scene, &members, 3, HALF, _i == 1, NOW + 1, verdicts);
    assert_all(verdicts, HALF, TH_OK);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], BATCH - HALF);
    assert_sound(&scene);
    for (size_t i = 0; i < BATCH; i++) {
        const bool has_ended = i >= 3 && i < 3 + HALF;
        ck_assert_int_eq(scene_has(&scene, &members.ids[i]), !(has_ended && _i == 1));
        if (!has_ended)
            ASSERT_STATE(&scene, &members.ids[i], JOB_RUNNING);
    }

    ack(&scene, &members, 0, 3, _i == 1, NOW + 2, verdicts);
    assert_all(verdicts, 3, TH_OK);
    ack(&scene, &members, 3 + HALF, BATCH - HALF - 3, _i == 1, NOW + 2, verdicts);
    assert_all(verdicts, BATCH - HALF - 3, TH_OK);
    struct queue_stats stats = scene_stats(&scene);
    ck_assert_int_eq(stats.jobs[JOB_RUNNING], 0);
    ck_assert_int_eq(stats.jobs[JOB_DONE], _i == 1 ? 0 : BATCH);
    ck_assert_int_eq(stats.done_total, BATCH);
    assert_sound(&scene);
}
END_TEST

/* A done job answers the same token with success; of one that was forgotten nobody knows. */
START_TEST(a_repeated_ack_of_one_member_takes_effect_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    ack(&scene, &members, 0, HALF, _i == 1, NOW + 1, verdicts);
    ack(&scene, &members, HALF - 1, 2, _i == 1, NOW + 2, verdicts);
    ASSERT_VERDICT(verdicts[0], _i == 1 ? TH_E_NOT_FOUND : TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_OK);
    ck_assert_int_eq(scene_stats(&scene).done_total, HALF + 1);
    assert_sound(&scene);
}
END_TEST

/* Another one's number, and numbers that nobody has. */
START_TEST(an_ack_with_another_number_of_the_same_batch_is_refused)
{
    static const unsigned char numbers[][4] = {
        {0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0, 0, 0, 99}};
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    struct lease_token *token = &members.claims[2].token;
    if (_i == 0)
        *token = members.claims[3].token;
    else if (_i == 1)
        token->bytes[LEASE_TOKEN_SIZE - 1] = 200;
    else
        memcpy(token->bytes + LEASE_TOKEN_SIZE - 4, numbers[_i - 1], 4);
    AUTO_FREE char *before = scene_snapshot(&scene, &members.ids[2]);
    ack(&scene, &members, 1, 2, false, NOW + 1, verdicts);
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_E_LEASE_MISMATCH);
    assert_unchanged(&scene, &members.ids[2], before);
    ack(&scene, &members, 3, BATCH - 3, false, NOW + 1, verdicts);
    assert_all(verdicts, BATCH - 3, TH_OK);
    assert_sound(&scene);
}
END_TEST

START_TEST(acks_at_the_end_of_their_batch_are_too_late)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    AUTO_FREE char *before = scene_snapshot(&scene, &members.ids[0]);
    ack(&scene, &members, 0, HALF, false, NOW + LEASE, verdicts);
    assert_all(verdicts, HALF, TH_E_LEASE_EXPIRED);
    assert_unchanged(&scene, &members.ids[0], before);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_RUNNING], BATCH);
    ack(&scene, &members, 0, BATCH, false, NOW + LEASE - 1, verdicts);
    assert_all(verdicts, BATCH, TH_OK);
}
END_TEST

START_TEST(a_heartbeat_of_one_member_extends_no_other)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    extend(&scene, &members.claims[4], NOW + 5);
    const struct job *job = scene_get(&scene, &members.ids[4], &list);
    ASSERT_TIME(job->expires_at, NOW + 5 + LEASE);
    ASSERT_TIME(job->started_at, NOW);
    ck_assert(lease_token_equal(&job->token, &members.claims[4].token));
    ASSERT_TIME(scene_get(&scene, &members.ids[5], &list)->expires_at, NOW + LEASE);
    assert_sound(&scene);

    ack(&scene, &members, 4, 2, false, NOW + LEASE, verdicts);
    ASSERT_VERDICT(verdicts[0], TH_OK);
    ASSERT_VERDICT(verdicts[1], TH_E_LEASE_EXPIRED);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + LEASE), BATCH - 1);
    assert_sound(&scene);
}
END_TEST

/* Some were extended, one was cancelled, one is back in its queue: all the others are as they were.
 */
START_TEST(what_happens_to_some_members_is_nothing_to_the_others)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    extend(&scene, &members.claims[0], NOW + 1);
    scene_finish(&scene, &members.claims[1], SETTLE_RELEASE, NOW + 1);
    ASSERT_VERDICT(scene_cancel(&scene, &members.ids[2], NOW + 1), TH_OK);
    assert_sound(&scene);
    ack(&scene, &members, 0, BATCH, _i == 1, NOW + 2, verdicts);
    for (size_t i = 0; i < BATCH; i++)
        ASSERT_VERDICT(verdicts[i], i == 1 ? TH_E_NOT_RUNNING : TH_OK);
    struct queue_stats stats = scene_stats(&scene);
    ck_assert_int_eq(stats.jobs[JOB_READY], 1);
    ck_assert_int_eq(stats.jobs[JOB_RUNNING], 0);
    ck_assert_int_eq(stats.done_total, BATCH - 1);
    assert_sound(&scene);
}
END_TEST

START_TEST(a_member_that_is_to_be_cancelled_ends_so)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct members members;

    take(&scene, &members);
    ASSERT_VERDICT(scene_cancel(&scene, &members.ids[7], NOW + 1), TH_OK);
    ASSERT_TIME(scene_get(&scene, &members.ids[7], &list)->cancel_requested_at, NOW + 1);
    ASSERT_TIME(scene_get(&scene, &members.ids[8], &list)->cancel_requested_at, 0);
    scene_finish(&scene, &members.claims[7], SETTLE_RELEASE, NOW + 2);
    scene_finish(&scene, &members.claims[8], SETTLE_RELEASE, NOW + 2);
    ASSERT_STATE(&scene, &members.ids[7], JOB_CANCELLED);
    ASSERT_STATE(&scene, &members.ids[8], JOB_READY);
    assert_sound(&scene);
}
END_TEST

START_TEST(held_has_the_members_that_are_left)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list held = {0};
    enum th_error_code verdicts[BATCH];
    struct members members;
    struct error err = {0};

    take(&scene, &members);
    ack(&scene, &members, 0, HALF, false, NOW + 1, verdicts);
    extend(&scene, &members.claims[HALF], NOW + 5);
    MUST(store_held(scene.store, POOL, &held, &err));
    ck_assert_uint_eq(held.count, BATCH - HALF);
    for (size_t i = 0; i < held.count; i++) {
        const struct job *job = &held.items[i];
        ASSERT_SAME_ID(&job->id, &members.ids[HALF + i]);
        ck_assert(lease_token_equal(&job->token, &members.claims[HALF + i].token));
        ck_assert_int_eq(job->executions, 1);
        ASSERT_TIME(job->started_at, NOW);
        ASSERT_TIME(job->expires_at, NOW + LEASE + (i == 0 ? 5 : 0));
    }
}
END_TEST

/* As many as are asked for, and the others with the next call. */
START_TEST(a_batch_that_ran_out_is_taken_back_job_by_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list again = {0};
    struct members members;
    struct error err = {0};
    size_t moved;

    take(&scene, &members);
    ck_assert_uint_eq(scene_reclaim(&scene, NOW + LEASE - 1), 0);
    MUST(store_reclaim(scene.store, NOW + LEASE, HALF, &moved, &err));
    ck_assert_uint_eq(moved, HALF);
    assert_sound(&scene);
    struct reservation wanted = scene_wants(&scene, MANY);
    scene_reserve(&scene, &wanted, NOW + LEASE, &again);
    ck_assert_uint_eq(again.count, BATCH);
    for (size_t i = 0; i < BATCH; i++) {
        ASSERT_SAME_ID(&again.items[i].id, &members.ids[i]);
        ck_assert_int_eq(again.items[i].stalls, 1);
        ck_assert_int_eq(again.items[i].executions, 2);
    }
    assert_sound(&scene);
}
END_TEST

START_TEST(every_member_counts_for_max_running)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    enum th_error_code verdicts[BATCH];
    struct members members, more;

    take(&scene, &members);
    scene_add_many(&scene, BATCH, more.ids);
    for (size_t left = BATCH; left > 0; left -= HALF) {
        CLEANUP(job_list_done) struct job_list taken = {0};
        struct reservation wanted = scene_wants(&scene, MANY);
        scene.share.max_running = BATCH + 3;
        scene_reserve(&scene, &wanted, NOW, &taken);
        ck_assert_uint_eq(taken.count, left == BATCH ? 3 : HALF);
        ack(&scene, &members, BATCH - left, HALF, false, NOW + 1, verdicts);
        assert_all(verdicts, HALF, TH_OK);
    }
    assert_sound(&scene);
}
END_TEST

START_TEST(members_are_listed_and_found_one_by_one)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = {
        .by_state = true, .state = JOB_RUNNING, .queue = scene.queue, .limit = MANY};
    enum th_error_code verdicts[BATCH];
    struct members members;

    take(&scene, &members);
    ack(&scene, &members, HALF, HALF, false, NOW + 1, verdicts);
    filter.oldest_first = true;
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, HALF);
    for (size_t i = 0; i < HALF; i++) {
        ASSERT_SAME_ID(&list.items[i].id, &members.ids[i]);
        ck_assert_str_eq(list.items[i].pool, POOL);
        ASSERT_TIME(list.items[i].started_at, NOW);
        ASSERT_TIME(list.items[i].expires_at, NOW + LEASE);
        ck_assert_int_eq(list.items[i].executions, 1);
        ASSERT_VERDICT(scene_run_now(&scene, &members.ids[i], NOW), TH_E_CONFLICT);
        ASSERT_VERDICT(scene_requeue(&scene, &members.ids[i], 0, NOW), TH_E_CONFLICT);
        ASSERT_VERDICT(scene_remove(&scene, &members.ids[i]), TH_E_CONFLICT);
    }
    assert_sound(&scene);
}
END_TEST

Suite *batched_suite(void)
{
    Suite *suite = suite_create("batched");
    TCase *group = contract_group(suite, "batched");

    tcase_add_loop_test(group, acks_of_one_batch_may_come_in_several_calls, 0, 2);
    tcase_add_loop_test(group, a_repeated_ack_of_one_member_takes_effect_once, 0, 2);
    tcase_add_loop_test(group, an_ack_with_another_number_of_the_same_batch_is_refused, 0, 5);
    tcase_add_test(group, acks_at_the_end_of_their_batch_are_too_late);
    tcase_add_test(group, a_heartbeat_of_one_member_extends_no_other);
    tcase_add_loop_test(group, what_happens_to_some_members_is_nothing_to_the_others, 0, 2);
    tcase_add_test(group, a_member_that_is_to_be_cancelled_ends_so);
    tcase_add_test(group, held_has_the_members_that_are_left);
    tcase_add_test(group, a_batch_that_ran_out_is_taken_back_job_by_job);
    tcase_add_test(group, every_member_counts_for_max_running);
    tcase_add_test(group, members_are_listed_and_found_one_by_one);
    return suite;
}
