/*
 * test_groups.c - what several callers enqueue in one call: each has a verdict of its own.
 */
#include "bring.h"
#include "contract.h"

#include <string.h>

#define GROUPS_MAX 100
#define GROUP_JOBS 3

/* Groups of the scene's queue, of so many jobs each. */
struct crowd {
    struct scene *scene;
    size_t count;
    struct enqueue_group groups[GROUPS_MAX];
    struct job jobs[GROUPS_MAX][GROUP_JOBS];
    struct enqueued enqueued[GROUPS_MAX][GROUP_JOBS];
    struct error errors[GROUPS_MAX];
};

static void crowd_init(struct crowd *crowd, struct scene *scene, size_t groups, size_t jobs)
{
    memset(crowd, 0, sizeof *crowd);
    crowd->scene = scene;
    crowd->count = groups;
    for (size_t i = 0; i < groups; i++) {
        for (size_t j = 0; j < jobs; j++)
            crowd->jobs[i][j] = scene_job(scene);
        crowd->groups[i] = (struct enqueue_group){
            .jobs = crowd->jobs[i],
            .count = jobs,
            .enqueued_out = crowd->enqueued[i],
            .err = &crowd->errors[i],
        };
    }
}

static void crowd_enqueue(struct crowd *crowd)
{
    struct error err;

    MUST(store_enqueue_groups(crowd->scene->store, crowd->groups, crowd->count, NOW, &err));
}

static void assert_stored(const struct crowd *crowd, size_t group)
{
    const struct enqueue_group *it = &crowd->groups[group];

    ck_assert_msg(it->verdict == TH_OK, "group %zu: %s", group, crowd->errors[group].text);
    for (size_t i = 0; i < it->count; i++) {
        ck_assert(!it->enqueued_out[i].existed && !it->enqueued_out[i].updated);
        ASSERT_SAME_ID(&it->enqueued_out[i].id, &it->jobs[i].id);
        ASSERT_STATE(crowd->scene, &it->jobs[i].id, it->enqueued_out[i].state);
    }
}

static void assert_refused_whole(const struct crowd *crowd, size_t group,
                                 enum th_error_code verdict, size_t at_fault)
{
    const struct enqueue_group *it = &crowd->groups[group];

    ASSERT_VERDICT(it->verdict, verdict);
    ASSERT_VERDICT(it->err->code, verdict);
    ck_assert_uint_eq(it->at_fault, at_fault);
    for (size_t i = 0; i < it->count; i++)
        ck_assert(!scene_has(crowd->scene, &it->jobs[i].id));
}

START_TEST(a_group_is_stored_whole_and_answered_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct crowd crowd;

    crowd_init(&crowd, &scene, 3, 2);
    crowd.jobs[1][1].run_at = LATER;
    crowd_enqueue(&crowd);
    for (size_t i = 0; i < crowd.count; i++)
        assert_stored(&crowd, i);
    ck_assert_int_eq(crowd.enqueued[1][1].state, JOB_SCHEDULED);
    ck_assert_uint_eq(scene_count(&scene), 6);
}
END_TEST

START_TEST(a_hundred_groups_of_one_job_keep_their_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct reservation wanted = scene_wants(&scene, MANY);
    struct crowd crowd;

    crowd_init(&crowd, &scene, GROUPS_MAX, 1);
    if (_i == 1) {
        crowd.jobs[7][0].key = "of one in the middle";
        crowd.jobs[50][0].idempotency_key = "of another";
        crowd.jobs[50][0].idempotency_expires = LATER;
    }
    crowd_enqueue(&crowd);
    scene_reserve(&scene, &wanted, NOW, &list);
    ck_assert_uint_eq(list.count, GROUPS_MAX);
    for (size_t i = 0; i < GROUPS_MAX; i++) {
        ck_assert_int_eq(crowd.groups[i].verdict, TH_OK);
        ASSERT_SAME_ID(&list.items[i].id, &crowd.jobs[i][0].id);
    }
}
END_TEST

/* The first, the second or the third job of the group. */
START_TEST(a_conflict_refuses_its_own_group_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought waiting = bring(&scene, JOB_READY);
    AUTO_FREE char *before = scene_snapshot(&scene, &waiting.id);
    struct crowd crowd;

    crowd_init(&crowd, &scene, 3, 3);
    for (size_t i = 0; i < 3; i++) {
        crowd.jobs[1][i].idempotency_key = i == 0 ? "of the refused" : i == 1 ? "also" : "third";
        crowd.jobs[1][i].idempotency_expires = LATER;
    }
    crowd.jobs[1][_i].key = waiting.key;
    crowd.jobs[2][0].key = "its own";
    crowd_enqueue(&crowd);
    assert_stored(&crowd, 0);
    assert_refused_whole(&crowd, 1, TH_E_CONFLICT, (size_t)_i);
    ck_assert_ptr_nonnull(strstr(crowd.errors[1].text, waiting.key));
    assert_stored(&crowd, 2);
    assert_unchanged(&scene, &waiting.id, before);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_READY], 7);

    /* The idempotency records went with the jobs. */
    crowd.jobs[1][_i].key = NULL;
    crowd.groups[0] = crowd.groups[1];
    crowd.count = 1;
    crowd_enqueue(&crowd);
    ck_assert_int_eq(crowd.groups[0].verdict, TH_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert(!crowd.enqueued[1][i].existed);
}
END_TEST

START_TEST(a_group_that_conflicts_with_itself_leaves_no_key)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct crowd crowd;

    crowd_init(&crowd, &scene, 3, 2);
    crowd.jobs[1][0].key = crowd.jobs[1][1].key = crowd.jobs[2][1].key = "both";
    crowd.jobs[1][1].type = crowd.jobs[2][1].type = "another";
    crowd_enqueue(&crowd);
    assert_stored(&crowd, 0);
    assert_refused_whole(&crowd, 1, TH_E_CONFLICT, 1);
    assert_stored(&crowd, 2);
    ck_assert_uint_eq(scene_count(&scene), 4);
}
END_TEST

START_TEST(a_single_job_with_a_conflict_is_refused_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought running = bring(&scene, JOB_RUNNING);
    AUTO_FREE char *before = scene_snapshot(&scene, &running.id);
    struct crowd crowd;

    crowd_init(&crowd, &scene, 5, 1);
    for (size_t i = 1; i < 4; i += 2) {
        crowd.jobs[i][0].key = running.key;
        crowd.jobs[i][0].idempotency_key = "once";
        crowd.jobs[i][0].idempotency_expires = LATER;
    }
    crowd_enqueue(&crowd);
    for (size_t i = 0; i < 5; i++) {
        if (i % 2 == 1)
            assert_refused_whole(&crowd, i, TH_E_CONFLICT, 0);
        else
            assert_stored(&crowd, i);
    }
    assert_unchanged(&scene, &running.id, before);
    crowd.jobs[0][0] = scene_job(&scene);
    crowd.jobs[0][0].idempotency_key = "once";
    crowd.jobs[0][0].idempotency_expires = LATER;
    crowd.count = 1;
    crowd_enqueue(&crowd);
    assert_stored(&crowd, 0);
}
END_TEST

START_TEST(an_invalid_job_refuses_its_own_group_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct crowd crowd;

    crowd_init(&crowd, &scene, 3, 3);
    crowd.jobs[1][2].timeout = -1;
    crowd_enqueue(&crowd);
    assert_stored(&crowd, 0);
    assert_refused_whole(&crowd, 1, TH_E_INVALID, 2);
    ck_assert_ptr_nonnull(strstr(crowd.errors[1].text, "timeout"));
    assert_stored(&crowd, 2);
    ck_assert_uint_eq(scene_count(&scene), 6);
}
END_TEST

START_TEST(groups_that_are_all_invalid_store_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct crowd crowd;

    crowd_init(&crowd, &scene, 2, 1);
    crowd.jobs[0][0].timeout = crowd.jobs[1][0].timeout = -1;
    crowd_enqueue(&crowd);
    assert_refused_whole(&crowd, 0, TH_E_INVALID, 0);
    assert_refused_whole(&crowd, 1, TH_E_INVALID, 0);
    crowd.count = 0;
    crowd_enqueue(&crowd);
    ck_assert_uint_eq(scene_count(&scene), 0);
}
END_TEST

START_TEST(an_idempotency_key_of_one_group_counts_for_the_next)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct crowd crowd;

    crowd_init(&crowd, &scene, 3, 1);
    for (size_t i = 0; i < 3; i += 2) {
        crowd.jobs[i][0].idempotency_key = "once";
        crowd.jobs[i][0].idempotency_expires = LATER;
    }
    crowd_enqueue(&crowd);
    assert_stored(&crowd, 0);
    assert_stored(&crowd, 1);
    ck_assert_int_eq(crowd.groups[2].verdict, TH_OK);
    ck_assert(crowd.enqueued[2][0].existed);
    ASSERT_SAME_ID(&crowd.enqueued[2][0].id, &crowd.jobs[0][0].id);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

START_TEST(a_refused_group_leaves_nothing_to_be_removed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct retention keep = {USEC_MAX, SIZE_MAX, USEC_MAX};
    struct brought waiting = bring(&scene, JOB_READY);
    struct crowd crowd;
    struct error err;
    size_t removed;

    crowd_init(&crowd, &scene, 2, 3);
    crowd.jobs[1][0].idempotency_key = "before";
    crowd.jobs[1][2].idempotency_key = "after";
    crowd.jobs[1][0].idempotency_expires = crowd.jobs[1][2].idempotency_expires = LATER;
    crowd.jobs[1][1].key = waiting.key;
    crowd_enqueue(&crowd);
    assert_refused_whole(&crowd, 1, TH_E_CONFLICT, 1);
    MUST(store_prune(scene.store, &keep, NOW, MANY, &removed, &err));
    ck_assert_uint_eq(removed, 0);
}
END_TEST

/* Without the group that had it first. */
START_TEST(an_idempotency_key_of_a_refused_group_is_free_for_the_next)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought waiting = bring(&scene, JOB_READY);
    struct crowd crowd;

    crowd_init(&crowd, &scene, 2, 2);
    for (size_t i = 0; i < 2; i++) {
        crowd.jobs[i][0].idempotency_key = "once";
        crowd.jobs[i][0].idempotency_expires = LATER;
    }
    crowd.jobs[0][1].key = waiting.key;
    crowd_enqueue(&crowd);
    assert_refused_whole(&crowd, 0, TH_E_CONFLICT, 1);
    assert_stored(&crowd, 1);
}
END_TEST

START_TEST(a_key_of_one_group_is_updated_by_the_next)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct crowd crowd;

    crowd_init(&crowd, &scene, 2, 1);
    crowd.jobs[0][0].key = crowd.jobs[1][0].key = "same";
    crowd.jobs[1][0].priority = 2;
    crowd_enqueue(&crowd);
    assert_stored(&crowd, 0);
    ck_assert(crowd.enqueued[1][0].updated);
    ASSERT_SAME_ID(&crowd.enqueued[1][0].id, &crowd.jobs[0][0].id);
    ck_assert_uint_eq(scene_count(&scene), 1);
    ck_assert_int_eq(scene_get(&scene, &crowd.jobs[0][0].id, &list)->priority, 2);
}
END_TEST

/* Its answer was lost, and the caller cannot know. */
START_TEST(groups_that_are_repeated_are_stored_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct crowd crowd;

    const size_t jobs = _i == 0 ? 1 : 2;

    crowd_init(&crowd, &scene, 3, jobs);
    if (_i == 2)
        crowd.jobs[1][1].idempotency_key = "once";
    crowd.jobs[1][1].idempotency_expires = LATER;
    crowd_enqueue(&crowd);
    crowd.jobs[2][0] = scene_job(&scene);
    crowd_enqueue(&crowd);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < jobs; j++) {
            ck_assert_int_eq(crowd.groups[i].verdict, TH_OK);
            ck_assert(crowd.enqueued[i][j].existed == !(i == 2 && j == 0));
            ASSERT_SAME_ID(&crowd.enqueued[i][j].id, &crowd.jobs[i][j].id);
        }
    ck_assert_uint_eq(scene_count(&scene), 3 * jobs + 1);
}
END_TEST

/* In a cluster these are parts that only some groups have in common. */
START_TEST(groups_reach_several_queues)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    struct brought waiting = bring(&other, JOB_READY);
    struct crowd crowd;

    crowd_init(&crowd, &scene, 5, 2);
    crowd.jobs[1][0].queue = crowd.jobs[1][1].queue = other.queue;
    crowd.jobs[2][1].queue = other.queue;
    crowd.jobs[3][1].queue = other.queue;
    crowd.jobs[3][1].key = waiting.key;
    crowd.jobs[4][0].id_is_given = true;
    crowd_enqueue(&crowd);
    for (size_t i = 0; i < 5; i++)
        if (i != 3)
            assert_stored(&crowd, i);
    assert_refused_whole(&crowd, 3, TH_E_CONFLICT, 1);
    ck_assert_uint_eq(scene_count(&scene), 5);
    ck_assert_uint_eq(scene_count(&other), 4);
}
END_TEST

Suite *groups_suite(void)
{
    Suite *suite = suite_create("groups");
    TCase *together = contract_group(suite, "together");
    TCase *verdicts = contract_group(suite, "verdicts");

    tcase_add_test(together, a_group_is_stored_whole_and_answered_alone);
    tcase_add_loop_test(together, a_hundred_groups_of_one_job_keep_their_order, 0, 2);
    tcase_add_test(together, an_idempotency_key_of_one_group_counts_for_the_next);
    tcase_add_test(together, a_key_of_one_group_is_updated_by_the_next);
    tcase_add_loop_test(together, groups_that_are_repeated_are_stored_once, 0, 3);
    tcase_add_test(together, groups_reach_several_queues);
    tcase_add_loop_test(verdicts, a_conflict_refuses_its_own_group_alone, 0, 3);
    tcase_add_test(verdicts, a_refused_group_leaves_nothing_to_be_removed);
    tcase_add_test(verdicts, a_group_that_conflicts_with_itself_leaves_no_key);
    tcase_add_test(verdicts, a_single_job_with_a_conflict_is_refused_alone);
    tcase_add_test(verdicts, an_invalid_job_refuses_its_own_group_alone);
    tcase_add_test(verdicts, groups_that_are_all_invalid_store_nothing);
    tcase_add_test(verdicts, an_idempotency_key_of_a_refused_group_is_free_for_the_next);
    return suite;
}
