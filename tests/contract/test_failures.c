/*
 * test_failures.c - the jobs that failed last, for people who look for what goes wrong.
 */
#include "bring.h"
#include "contract.h"

static void look(struct scene *scene, size_t limit, struct job_list *list)
{
    struct error err = {0};

    MUST(store_failures(scene->store, limit, list, &err));
}

/* A job that was executed and failed at this moment: dead, or to be tried again. */
static struct uuid add_failure(struct scene *scene, enum settlement_kind kind, usec_t now)
{
    struct uuid id = scene_add(scene);
    struct claim claim = scene_take(scene, now);
    struct settlement failure = claim_settlement(&claim, kind);

    failure.error = "it broke";
    failure.reason = kind == SETTLE_FAIL ? REASON_PERMANENT : REASON_NONE;
    ASSERT_VERDICT(scene_settle(scene, &failure, now), TH_OK);
    return id;
}

START_TEST(failures_are_none_where_nothing_failed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct claim claim;

    scene_add(&scene);
    claim = scene_take(&scene, NOW);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    bring(&scene, JOB_RUNNING);
    bring(&scene, JOB_CANCELLED);
    look(&scene, 10, &list);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(failures_of_all_queues_come_newest_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    static const usec_t moments[] = {NOW + 5, NOW + 9, NOW + 1, NOW + 7};
    static const size_t newest_first[] = {1, 3, 0, 2};
    struct uuid ids[COUNT_OF(moments)];

    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        scene.queue[0] = (char)('a' + i);
        ids[i] = add_failure(&scene, i % 2 == 0 ? SETTLE_FAIL : SETTLE_RETRY, moments[i]);
    }
    look(&scene, 10, &list);
    ck_assert_uint_eq(list.count, COUNT_OF(moments));
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        ASSERT_SAME_ID(&list.items[i].id, &ids[newest_first[i]]);
        ASSERT_TIME(list.items[i].failed_at, moments[newest_first[i]]);
    }
}
END_TEST

static const struct {
    enum settlement_kind kind;
    enum job_state state;
} fates[] = {{SETTLE_RETRY, JOB_RETRY}, {SETTLE_FAIL, JOB_DEAD}};

START_TEST(failures_tell_what_inspect_tells_of_them)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0}, whole = {0};
    struct uuid id = add_failure(&scene, fates[_i].kind, NOW);

    look(&scene, 10, &list);
    const struct job *failure = &list.items[0], *job = scene_get(&scene, &id, &whole);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(failure->state, fates[_i].state);
    ck_assert_int_eq(failure->state, job->state);
    ck_assert_str_eq(failure->type, job->type);
    ck_assert_str_eq(failure->queue, job->queue);
    ck_assert_int_eq(failure->attempts, job->attempts);
    ck_assert_int_eq(failure->max_attempts, job->max_attempts);
    ck_assert_str_eq(failure->last_error, "it broke");
    ck_assert_int_eq(failure->reason, job->reason);
}
END_TEST

START_TEST(failures_are_no_more_than_the_limit)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid newest = {{0}};

    for (int i = 0; i < 5; i++)
        newest = add_failure(&scene, SETTLE_FAIL, NOW + i);
    look(&scene, 2, &list);
    ck_assert_uint_eq(list.count, 2);
    ASSERT_SAME_ID(&list.items[0].id, &newest);
}
END_TEST

START_TEST(failures_stay_when_the_job_is_done_at_last)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};

    add_failure(&scene, SETTLE_RETRY, NOW);
    scene_promote(&scene, JOB_RETRY, LATER);
    struct claim claim = scene_take(&scene, LATER);
    scene_finish(&scene, &claim, SETTLE_ACK, LATER);
    look(&scene, 10, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(list.items[0].state, JOB_DONE);
    ASSERT_TIME(list.items[0].failed_at, NOW);
}
END_TEST

START_TEST(failures_go_when_the_job_is_requeued_or_removed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid requeued = add_failure(&scene, SETTLE_FAIL, NOW);
    struct uuid removed = add_failure(&scene, SETTLE_FAIL, NOW);

    ASSERT_VERDICT(scene_requeue(&scene, &requeued, 0, NOW), TH_OK);
    ASSERT_VERDICT(scene_remove(&scene, &removed), TH_OK);
    look(&scene, 10, &list);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

static const size_t wrong_limits[] = {0, JOB_PAGE_MAX + 1, SIZE_MAX};

START_TEST(failures_refuse_a_limit_out_of_range)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct error err = {0};

    MUST_FAIL(TH_E_INVALID, store_failures(scene.store, wrong_limits[_i], &list, &err));
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

Suite *failures_suite(void)
{
    Suite *suite = suite_create("failures");
    TCase *failures = contract_group(suite, "failures");

    tcase_add_test(failures, failures_are_none_where_nothing_failed);
    tcase_add_test(failures, failures_of_all_queues_come_newest_first);
    tcase_add_loop_test(failures, failures_tell_what_inspect_tells_of_them, 0, COUNT_OF(fates));
    tcase_add_test(failures, failures_are_no_more_than_the_limit);
    tcase_add_test(failures, failures_stay_when_the_job_is_done_at_last);
    tcase_add_test(failures, failures_go_when_the_job_is_requeued_or_removed);
    tcase_add_loop_test(failures, failures_refuse_a_limit_out_of_range, 0, COUNT_OF(wrong_limits));
    return suite;
}
