/*
 * test_lease.c - who holds a running job, and until when.
 *
 * What happens when a lease runs out is in test_reclaim.c.
 */
#include "bring.h"
#include "contract.h"
#include "refusal.h"

#include <string.h>

START_TEST(reserve_none_is_ok_false_without_error)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);

    struct claim claim = scene_take(&scene, NOW);
    ASSERT_SAME_ID(&claim.id, &id);
    scene_take_nothing(&scene, NOW); /* a queue that is empty by now */
    snprintf(scene.queue, sizeof scene.queue, "never-heard-of");
    scene_take_nothing(&scene, NOW);
}
END_TEST

START_TEST(reserve_is_exclusive_during_valid_lease)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);

    memcpy(other.queue, scene.queue, sizeof other.queue);
    scene_take_nothing(&scene, NOW);
    scene_take_nothing(&other, NOW);
    scene_take_nothing(&other, claim.expires_at - 1);
    assert_unchanged(&scene, &id, before);
}
END_TEST

static const usec_t bad_durations[] = {0, -1, INT64_MIN};

START_TEST(reserve_invalid_lease_duration_0_and_negative)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid id = scene_add(&scene);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    struct reservation wanted = scene_wants(&scene, 1);
    struct error err = {0};

    wanted.lease_for = bad_durations[_i];
    MUST_FAIL(TH_E_INVALID, store_reserve(scene.store, &wanted, NOW, &taken, &err));
    ck_assert_uint_eq(taken.count, 0);
    assert_unchanged(&scene, &id, before);
}
END_TEST

static const char *const blanks[] = {NULL, "", " ", "\t\n"};

START_TEST(reserve_blank_queue_rejected)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid id = scene_add(&scene);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    const struct queue_share shares[] = {{.queue = scene.queue, .max = 1},
                                         {.queue = blanks[_i], .max = 1}};
    struct reservation wanted = scene_wants(&scene, 1);
    struct error err = {0};

    wanted.queues = shares;
    wanted.queue_count = COUNT_OF(shares);
    MUST_FAIL(TH_E_INVALID, store_reserve(scene.store, &wanted, NOW, &taken, &err));
    ck_assert_uint_eq(taken.count, 0);
    assert_unchanged(&scene, &id, before);
}
END_TEST

static const enum job_state not_ready[] = {
    JOB_SCHEDULED, JOB_BLOCKED, JOB_RUNNING, JOB_RETRY, JOB_DONE, JOB_DEAD, JOB_CANCELLED,
};

START_TEST(reserve_never_returns_done_or_dlq_or_cancelled)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought brought = bring(&scene, not_ready[_i]);
    AUTO_FREE char *before = scene_snapshot(&scene, &brought.id);

    scene_take_nothing(&scene, NOW + 1);
    assert_unchanged(&scene, &brought.id, before);
}
END_TEST

START_TEST(reserve_sets_owner_token_expiry_and_increments_executions)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct reservation wanted = scene_wants(&scene, 1);
    struct lease_token expected = lease_token_make(&wanted.batch, 0);

    wanted.lease_for = SECONDS(7) + 1;
    scene_reserve(&scene, &wanted, NOW + 5, &taken);
    ck_assert_uint_eq(taken.count, 1);
    scene_get(&scene, &id, &list);
    const struct job *both[] = {&taken.items[0], &list.items[0]};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        ASSERT_SAME_ID(&both[i]->id, &id);
        ck_assert_int_eq(both[i]->state, JOB_RUNNING);
        ck_assert_str_eq(both[i]->pool, POOL);
        ck_assert(lease_token_equal(&both[i]->token, &expected));
        ASSERT_TIME(both[i]->expires_at, NOW + 5 + SECONDS(7) + 1);
        ck_assert_int_eq(both[i]->executions, 1);
        ck_assert_int_eq(both[i]->attempts, 0);
        ck_assert_int_eq(both[i]->stalls, 0);
    }
}
END_TEST

START_TEST(executions_count_every_reserve_and_are_never_reset)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene_add(&scene);
    for (int64_t execution = 1; execution <= 3; execution++) {
        struct claim claim = scene_take(&scene, NOW);
        ck_assert_int_eq(claim.executions, execution);
        scene_finish(&scene, &claim, SETTLE_RELEASE, NOW);
    }
}
END_TEST

START_TEST(reserve_limit_n_returns_n_distinct_jobs_in_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, 7);
    struct uuid ids[10];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 7);
    for (size_t i = 0; i < taken.count; i++) {
        struct lease_token expected = lease_token_make(&wanted.batch, (uint32_t)i);
        ASSERT_SAME_ID(&taken.items[i].id, &ids[i]);
        ck_assert(lease_token_equal(&taken.items[i].token, &expected));
    }
    for (size_t i = 7; i < COUNT_OF(ids); i++)
        ASSERT_STATE(&scene, &ids[i], JOB_READY);
}
END_TEST

/* The dispatcher decides the shares, a driver never chooses between queues. */
START_TEST(reserve_serves_several_queues_in_the_order_asked)
{
    CLEANUP(scene_close) struct scene a = scene_open();
    CLEANUP(scene_close) struct scene b = scene_open();
    CLEANUP(scene_close) struct scene c = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid in_a[3], in_b[3], in_c[3];
    struct reservation wanted = scene_wants(&a, 0);
    const struct queue_share shares[] = {
        {.queue = b.queue, .max = 2}, {.queue = c.queue, .max = 0}, {.queue = a.queue, .max = 5}};

    scene_add_many(&a, COUNT_OF(in_a), in_a);
    scene_add_many(&b, COUNT_OF(in_b), in_b);
    scene_add_many(&c, COUNT_OF(in_c), in_c);
    wanted.queues = shares;
    wanted.queue_count = COUNT_OF(shares);
    scene_reserve(&a, &wanted, NOW, &taken);

    const struct uuid expected[] = {in_b[0], in_b[1], in_a[0], in_a[1], in_a[2]};
    ck_assert_uint_eq(taken.count, COUNT_OF(expected));
    for (size_t i = 0; i < taken.count; i++) {
        struct lease_token token = lease_token_make(&wanted.batch, (uint32_t)i);
        ASSERT_SAME_ID(&taken.items[i].id, &expected[i]);
        ck_assert(lease_token_equal(&taken.items[i].token, &token));
    }
    ck_assert_int_eq(scene_stats(&c).jobs[JOB_READY], 3);
}
END_TEST

START_TEST(reserve_adds_to_what_the_list_has)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[2];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct reservation wanted = scene_wants(&scene, 1);
        struct lease_token first_of_batch = lease_token_make(&wanted.batch, 0);
        scene_reserve(&scene, &wanted, NOW, &taken);
        ck_assert_uint_eq(taken.count, i + 1);
        ASSERT_SAME_ID(&taken.items[i].id, &ids[i]);
        ck_assert(lease_token_equal(&taken.items[i].token, &first_of_batch));
    }
}
END_TEST

START_TEST(release_makes_ready_without_counting)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_RELEASE, NOW + 1);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_int_eq(job->executions, 1);
    ASSERT_TIME(job->due, NOW);
    ASSERT_TIME(job->expires_at, 0);
    struct claim again = scene_take(&scene, NOW + 1);
    ASSERT_SAME_ID(&again.id, &id);
    ck_assert(!lease_token_equal(&again.token, &claim.token));
}
END_TEST

START_TEST(snooze_schedules_without_counting)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_SNOOZE, NOW + 1);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_SCHEDULED);
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_int_eq(job->executions, 1);
    ASSERT_TIME(job->run_at, LATER);
    ASSERT_TIME(job->due, LATER);
    ASSERT_TIME(job->expires_at, 0);
}
END_TEST

START_TEST(release_wrong_token)
{
    assert_refused(SETTLE_RELEASE, WRONG_TOKEN);
}
END_TEST

START_TEST(release_expired)
{
    assert_refused(SETTLE_RELEASE, EXPIRED);
}
END_TEST

START_TEST(release_not_inflight)
{
    assert_refused(SETTLE_RELEASE, NOT_INFLIGHT);
}
END_TEST

/* A reserve whose answer came after its lease made jobs dead that had never run. */
START_TEST(what_was_never_started_is_given_back_uncounted_after_its_lease)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    if (_i == 1)
        claim.ref = 0;
    scene_finish(&scene, &claim, SETTLE_RELEASE, claim.expires_at + LEASE);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_int_eq(job->attempts, 0);
    ASSERT_TIME(job->due, NOW);
}
END_TEST

START_TEST(what_was_never_started_is_given_back_only_by_its_owner)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    usec_t late = claim.expires_at + 1;
    struct settlement release = claim_settlement(&claim, SETTLE_RELEASE);

    scene_take(&scene, late); /* by somebody else */
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    ASSERT_VERDICT(scene_settle(&scene, &release, late), TH_E_LEASE_MISMATCH);
    ASSERT_VERDICT(scene_settle(&scene, &release, late + LEASE), TH_E_LEASE_MISMATCH);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(snooze_is_refused_like_release)
{
    assert_refused(SETTLE_SNOOZE, (enum situation)_i);
}
END_TEST

START_TEST(cancel_is_refused_like_release)
{
    assert_refused(SETTLE_CANCEL, (enum situation)_i);
}
END_TEST

Suite *lease_suite(void)
{
    Suite *suite = suite_create("lease");
    TCase *reserve = contract_group(suite, "reserve");
    TCase *release = contract_group(suite, "release");

    tcase_add_test(reserve, reserve_none_is_ok_false_without_error);
    tcase_add_test(reserve, reserve_is_exclusive_during_valid_lease);
    tcase_add_loop_test(reserve, reserve_invalid_lease_duration_0_and_negative, 0,
                        COUNT_OF(bad_durations));
    tcase_add_loop_test(reserve, reserve_blank_queue_rejected, 0, COUNT_OF(blanks));
    tcase_add_loop_test(reserve, reserve_never_returns_done_or_dlq_or_cancelled, 0,
                        COUNT_OF(not_ready));
    tcase_add_test(reserve, reserve_sets_owner_token_expiry_and_increments_executions);
    tcase_add_test(reserve, executions_count_every_reserve_and_are_never_reset);
    tcase_add_test(reserve, reserve_limit_n_returns_n_distinct_jobs_in_order);
    tcase_add_test(reserve, reserve_serves_several_queues_in_the_order_asked);
    tcase_add_test(reserve, reserve_adds_to_what_the_list_has);

    tcase_add_test(release, release_makes_ready_without_counting);
    tcase_add_test(release, snooze_schedules_without_counting);
    tcase_add_test(release, release_wrong_token);
    tcase_add_test(release, release_expired);
    tcase_add_test(release, release_not_inflight);
    tcase_add_loop_test(release, what_was_never_started_is_given_back_uncounted_after_its_lease, 0,
                        2);
    tcase_add_test(release, what_was_never_started_is_given_back_only_by_its_owner);
    tcase_add_loop_test(release, snooze_is_refused_like_release, 0, SITUATIONS);
    tcase_add_loop_test(release, cancel_is_refused_like_release, 0, SITUATIONS);
    return suite;
}
