/*
 * test_order.c - when a job's turn comes.
 *
 * Place in the queue: (priority, due, sequence).
 */
#include "contract.h"
#include "scene.h"

#include <string.h>

static struct uuid add_at(struct scene *scene, usec_t run_at, usec_t now)
{
    struct job job = scene_job(scene);

    job.run_at = run_at;
    return scene_enqueue(scene, job, now).id;
}

static struct uuid add_with_priority(struct scene *scene, int priority, usec_t now)
{
    struct job job = scene_job(scene);

    job.priority = priority;
    return scene_enqueue(scene, job, now).id;
}

static struct uuid add_of_type(struct scene *scene, const char *type)
{
    struct job job = scene_job(scene);

    job.type = type;
    return scene_enqueue(scene, job, NOW).id;
}

/* The next jobs of the queue are these, and there are no more. */
static void assert_order(struct scene *scene, const struct uuid *expected, size_t count, usec_t now)
{
    for (size_t i = 0; i < count; i++) {
        struct claim claim = scene_take(scene, now);
        ck_assert_msg(uuid_compare(&claim.id, &expected[i]) == 0, "another job came as number %zu",
                      i + 1);
    }
    scene_take_nothing(scene, now);
}

static size_t promote(struct scene *scene, enum job_state state, usec_t now, size_t limit,
                      usec_t *next_due)
{
    struct error err = {0};
    size_t moved = 0;

    MUST(store_promote(scene->store, state, now, limit, &moved, next_due, &err));
    return moved;
}

START_TEST(schedule_blocks_at_due_minus_1us_then_reserves_at_due)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = add_at(&scene, LATER, NOW);
    usec_t next_due = 0;

    ASSERT_STATE(&scene, &id, JOB_SCHEDULED);
    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, LATER - 1, MANY, &next_due), 0);
    ASSERT_TIME(next_due, LATER);
    ASSERT_STATE(&scene, &id, JOB_SCHEDULED);
    scene_take_nothing(&scene, LATER - 1);

    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, LATER, MANY, &next_due), 1);
    ASSERT_TIME(next_due, 0);
    ASSERT_STATE(&scene, &id, JOB_READY);
    assert_order(&scene, &id, 1, LATER);
}
END_TEST

START_TEST(reserve_never_returns_scheduled_jobs_even_when_due)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = add_at(&scene, LATER, NOW);

    scene_take_nothing(&scene, LATER + SECONDS(1));
    ASSERT_STATE(&scene, &id, JOB_SCHEDULED);
}
END_TEST

START_TEST(promote_moves_at_most_limit_and_the_earliest_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid third = add_at(&scene, LATER + 3, NOW);
    struct uuid first = add_at(&scene, LATER + 1, NOW);
    struct uuid second = add_at(&scene, LATER + 2, NOW);
    usec_t next_due = 0;

    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, LATER + 3, 2, &next_due), 2);
    ASSERT_TIME(next_due, LATER + 3);
    ASSERT_STATE(&scene, &first, JOB_READY);
    ASSERT_STATE(&scene, &second, JOB_READY);
    ASSERT_STATE(&scene, &third, JOB_SCHEDULED);
    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, LATER + 3, 2, &next_due), 1);
    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, LATER + 3, 2, &next_due), 0);
}
END_TEST

START_TEST(reserve_prefers_ready_over_future_scheduled)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job urgent = scene_job(&scene);

    urgent.run_at = LATER;
    urgent.priority = 0;
    scene_enqueue(&scene, urgent, NOW);
    struct uuid ready = scene_add(&scene);
    assert_order(&scene, &ready, 1, NOW);
}
END_TEST

START_TEST(run_at_in_the_past_is_ready_now)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid present = add_at(&scene, 0, NOW);
    struct uuid exactly_now = add_at(&scene, NOW, NOW);
    struct uuid past = add_at(&scene, NOW - 1, NOW);

    ASSERT_STATE(&scene, &exactly_now, JOB_READY);
    ASSERT_STATE(&scene, &past, JOB_READY);
    const struct uuid expected[] = {past, present, exactly_now};
    assert_order(&scene, expected, COUNT_OF(expected), NOW);
}
END_TEST

/* Ids that sort the other way show that it is not the id that decides. */
START_TEST(fifo_same_instant_uses_sequence)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[20];
    struct uuid expected[COUNT_OF(jobs)];

    for (size_t i = COUNT_OF(jobs); i-- > 0;)
        jobs[i] = scene_job(&scene);
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        expected[i] = scene_enqueue(&scene, jobs[i], NOW).id;
    assert_order(&scene, expected, COUNT_OF(expected), NOW);
}
END_TEST

START_TEST(earlier_due_is_first_whatever_the_sequence)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid later = add_at(&scene, 0, NOW + 1);
    struct uuid earlier = add_at(&scene, 0, NOW);
    const struct uuid expected[] = {earlier, later};

    assert_order(&scene, expected, COUNT_OF(expected), NOW + 1);
}
END_TEST

START_TEST(scheduled_due_order_is_run_at_then_seq)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid c = add_at(&scene, LATER + 2, NOW);
    struct uuid a1 = add_at(&scene, LATER, NOW);
    struct uuid b = add_at(&scene, LATER + 1, NOW);
    struct uuid a2 = add_at(&scene, LATER, NOW);
    const struct uuid expected[] = {a1, a2, b, c};

    ck_assert_uint_eq(scene_promote(&scene, JOB_SCHEDULED, LATER + 2), 4);
    assert_order(&scene, expected, COUNT_OF(expected), LATER + 2);
}
END_TEST

START_TEST(retried_job_is_not_starved_by_new_ready_jobs)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid retried = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_RETRY, NOW);
    struct uuid before = add_at(&scene, 0, LATER - 1);
    struct uuid after = add_at(&scene, 0, LATER + 1);
    ck_assert_uint_eq(scene_promote(&scene, JOB_RETRY, LATER + 1), 1);
    const struct uuid expected[] = {before, retried, after};
    assert_order(&scene, expected, COUNT_OF(expected), LATER + 1);
}
END_TEST

/* By the one who reserves next, or by the reaper. */
START_TEST(reclaimed_job_returns_to_its_old_place)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[3];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claim = scene_take(&scene, NOW);
    ASSERT_SAME_ID(&claim.id, &ids[0]);
    if (_i == 1)
        ck_assert_uint_eq(scene_reclaim(&scene, claim.expires_at), 1);
    assert_order(&scene, ids, COUNT_OF(ids), claim.expires_at);
}
END_TEST

START_TEST(released_job_returns_to_its_old_place)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid ids[3];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claim = scene_take(&scene, NOW);
    scene_finish(&scene, &claim, SETTLE_RELEASE, NOW + 1);
    assert_order(&scene, ids, COUNT_OF(ids), NOW + 1);
}
END_TEST

START_TEST(higher_priority_is_always_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid expected[10];

    /* The least urgent ones have waited longest. */
    for (int priority = 9; priority >= 0; priority--)
        expected[priority] = add_with_priority(&scene, priority, NOW - SECONDS(priority));
    assert_order(&scene, expected, COUNT_OF(expected), NOW);
}
END_TEST

/* Of a, b, a, c in that order. */
static const struct {
    const char *rule;
    const char *types[2];
    size_t type_count;
    size_t expected[4]; /* places */
    size_t expected_count;
} filters[] = {
    {"no filter claims any", {NULL}, 0, {0, 1, 2, 3}, 4},
    {"one type, in order", {"a"}, 1, {0, 2}, 2},
    {"jobs of other types before it do not matter", {"c"}, 1, {3}, 1},
    {"several types, in the order of the queue", {"c", "b"}, 2, {1, 3}, 2},
    {"none matches", {"x"}, 1, {0}, 0},
    {"a prefix is no match", {"a:b"}, 1, {0}, 0},
};

START_TEST(type_filter_claims_first_match_in_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct uuid ids[] = {add_of_type(&scene, "a"), add_of_type(&scene, "b"),
                               add_of_type(&scene, "a"), add_of_type(&scene, "c")};
    struct reservation wanted = scene_wants(&scene, MANY);

    wanted.types = filters[_i].type_count == 0 ? NULL : filters[_i].types;
    wanted.type_count = filters[_i].type_count;
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_msg(taken.count == filters[_i].expected_count, "%s: got %zu", filters[_i].rule,
                  taken.count);
    for (size_t i = 0; i < taken.count; i++) {
        const struct uuid *expected = &ids[filters[_i].expected[i]];
        ck_assert_msg(uuid_compare(&taken.items[i].id, expected) == 0, "%s", filters[_i].rule);
    }
}
END_TEST

START_TEST(type_filter_takes_no_more_than_max)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid other = add_of_type(&scene, "b");
    struct uuid first = add_of_type(&scene, "a");
    struct uuid second = add_of_type(&scene, "a");

    struct claim claim = scene_take_type(&scene, "a", NOW, LEASE);
    ASSERT_SAME_ID(&claim.id, &first);
    ASSERT_STATE(&scene, &other, JOB_READY);
    ASSERT_STATE(&scene, &second, JOB_READY);
}
END_TEST

/* Reserves the next job and settles it with what the core decides about the outcome. */
static void run_to_outcome(struct scene *scene, const struct outcome *outcome)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct settlement_rules rules = {job_limits_default, retry_policy_default, false};
    struct reservation wanted = scene_wants(scene, 1);

    scene_reserve(scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 1);
    struct settlement settlement = settlement_decide(&taken.items[0], outcome, &rules, NOW, 0);
    ASSERT_VERDICT(scene_settle(scene, &settlement, NOW), TH_OK);
}

START_TEST(unknown_type_is_dead_with_reason_no_handler)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct outcome unhandled = {.kind = OUTCOME_UNHANDLED,
                                      .error = "no handler for type 'work'"};
    struct uuid id = scene_add(&scene);

    run_to_outcome(&scene, &unhandled);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_DEAD);
    ck_assert_int_eq(job->reason, REASON_NO_HANDLER);
    ck_assert_str_eq(job->last_error, "no handler for type 'work'");
    ck_assert_int_eq(job->attempts, 0);
}
END_TEST

START_TEST(unknown_type_left_is_given_back_uncounted_for_10s)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct outcome left = {.kind = OUTCOME_SNOOZED, .snooze_for = SECONDS(10)};
    struct uuid id = scene_add(&scene);

    run_to_outcome(&scene, &left);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->state, JOB_SCHEDULED);
    ASSERT_TIME(job->run_at, NOW + SECONDS(10));
    ASSERT_TIME(job->due, NOW + SECONDS(10));
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_uint_eq(scene_promote(&scene, JOB_SCHEDULED, NOW + SECONDS(10) - 1), 0);
    ck_assert_uint_eq(scene_promote(&scene, JOB_SCHEDULED, NOW + SECONDS(10)), 1);
    assert_order(&scene, &id, 1, NOW + SECONDS(10));
}
END_TEST

START_TEST(next_due_reports_earliest_ready_at)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    usec_t next_due = -1;

    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, NOW, MANY, &next_due), 0);
    ASSERT_TIME(next_due, 0);
    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    scene_finish(&scene, &claim, SETTLE_RETRY, NOW);
    add_at(&scene, LATER + 9, NOW);
    add_at(&scene, LATER + 5, NOW);
    add_at(&scene, LATER + 7, NOW);

    /* Each state for itself: scheduler and retrier sleep until their own next one. */
    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, NOW, MANY, &next_due), 0);
    ASSERT_TIME(next_due, LATER + 5);
    ck_assert_uint_eq(promote(&scene, JOB_RETRY, NOW, MANY, &next_due), 0);
    ASSERT_TIME(next_due, LATER);
    ck_assert_uint_eq(promote(&scene, JOB_SCHEDULED, LATER + 5, MANY, &next_due), 1);
    ASSERT_TIME(next_due, LATER + 7);
}
END_TEST

START_TEST(who_stands_before_a_job_is_counted_up_to_a_limit)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job urgent = scene_job(&scene), later = scene_job(&scene), last = scene_job(&scene);
    struct error err = {0};
    size_t before = MANY;

    for (int i = 0; i < 4; i++)
        scene_add(&scene);
    urgent.priority = 0;
    later.run_at = LATER;
    scene_enqueue(&scene, urgent, NOW + 1);
    scene_enqueue(&scene, later, NOW);
    struct uuid id = scene_enqueue(&scene, last, NOW + 2).id;
    scene_enqueue(&scene, scene_job(&scene), NOW + 3);
    const struct job *job = scene_get(&scene, &id, &list);
    MUST(store_count_before(scene.store, job, 100, &before, &err));
    ck_assert_uint_eq(before, 5);
    MUST(store_count_before(scene.store, job, 3, &before, &err));
    ck_assert_uint_eq(before, 3);
    scene_take(&scene, NOW + 4);
    MUST(store_count_before(scene.store, job, 100, &before, &err));
    ck_assert_uint_eq(before, 4);
}
END_TEST

Suite *order_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *due = contract_group(suite, "due");
    TCase *place = contract_group(suite, "place");
    TCase *types = contract_group(suite, "types");

    tcase_add_test(due, schedule_blocks_at_due_minus_1us_then_reserves_at_due);
    tcase_add_test(due, reserve_never_returns_scheduled_jobs_even_when_due);
    tcase_add_test(due, promote_moves_at_most_limit_and_the_earliest_first);
    tcase_add_test(due, next_due_reports_earliest_ready_at);

    tcase_add_test(place, reserve_prefers_ready_over_future_scheduled);
    tcase_add_test(place, run_at_in_the_past_is_ready_now);
    tcase_add_test(place, fifo_same_instant_uses_sequence);
    tcase_add_test(place, earlier_due_is_first_whatever_the_sequence);
    tcase_add_test(place, scheduled_due_order_is_run_at_then_seq);
    tcase_add_test(place, retried_job_is_not_starved_by_new_ready_jobs);
    tcase_add_loop_test(place, reclaimed_job_returns_to_its_old_place, 0, 2);
    tcase_add_test(place, released_job_returns_to_its_old_place);
    tcase_add_test(place, higher_priority_is_always_first);

    tcase_add_loop_test(types, type_filter_claims_first_match_in_order, 0, COUNT_OF(filters));
    tcase_add_test(types, type_filter_takes_no_more_than_max);
    tcase_add_test(types, unknown_type_is_dead_with_reason_no_handler);
    tcase_add_test(types, unknown_type_left_is_given_back_uncounted_for_10s);
    tcase_add_test(types, who_stands_before_a_job_is_counted_up_to_a_limit);
    return suite;
}
