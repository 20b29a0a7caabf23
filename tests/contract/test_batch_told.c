/*
 * test_batch_told.c - leases that one reserve has given to many plain jobs: all that is told of
 * running jobs is told of each, and whoever reserves takes what it is given and nothing else.
 */
#include "batch.h"
#include "contract.h"

/* ---- what is told of them ---- */

START_TEST(each_member_is_held_as_it_was_reserved)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    CLEANUP(job_list_done) struct job_list held = {0};
    CLEANUP(job_list_done) struct job_list seen = {0};
    struct reservation wanted = scene_wants(&scene, MEMBERS);
    struct uuid ids[MEMBERS];
    struct error err = {0};

    scene_add_many(&scene, MEMBERS, ids);
    scene_reserve(&scene, &wanted, NOW, &taken);
    MUST(store_held(scene.store, POOL, &held, &err));
    ck_assert_uint_eq(held.count, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        ASSERT_SAME_ID(&held.items[i].id, &ids[i]);
        assert_same_record(&held.items[i], &taken.items[i]);
        assert_same_record(scene_get(&scene, &ids[i], &seen), &taken.items[i]);
    }
}
END_TEST

/* Two reserves and two queues in one of them: one token, and places that follow each other. */
START_TEST(queues_reserved_by_one_call_are_settled_each_by_itself)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct queue_share shares[] = {{.queue = batch->scene.queue, .max = MEMBERS},
                                         {.queue = "another", .max = MEMBERS}};
    struct settlement acks[2 * MEMBERS];
    enum th_error_code verdicts[2 * MEMBERS];
    struct reservation wanted = scene_wants(&batch->scene, 0);

    scene_add_many(&batch->scene, MEMBERS, batch->ids);
    for (size_t i = 0; i < MEMBERS; i++) {
        struct job job = scene_job(&batch->scene);
        job.queue = "another";
        scene_enqueue(&batch->scene, job, NOW);
    }
    wanted.queues = shares;
    wanted.queue_count = COUNT_OF(shares);
    scene_reserve(&batch->scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 2 * MEMBERS);
    for (size_t i = 0; i < 2 * MEMBERS; i++) {
        struct claim claim = claim_of(&batch->scene, &taken.items[2 * MEMBERS - 1 - i]);
        claim.queue = taken.items[2 * MEMBERS - 1 - i].queue;
        acks[i] = batch_plain_ack(&claim);
    }
    batch_settle(&batch->scene, acks, 2 * MEMBERS, NOW + 10, verdicts);
    for (size_t i = 0; i < 2 * MEMBERS; i++) {
        ASSERT_VERDICT(verdicts[i], TH_OK);
        batch_assert_done(&batch->scene, &taken.items[i].id);
    }
    batch_assert_running(batch, MEMBERS);
}
END_TEST

START_TEST(keyed_jobs_among_plain_ones_unblock_their_twins)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct claim claims[MEMBERS];
    struct settlement acks[MEMBERS];
    enum th_error_code verdicts[MEMBERS];
    char why[200];

    for (size_t i = 0; i < MEMBERS; i++) {
        struct job job = scene_job(&scene);
        job.key = i == 4 ? "one" : NULL;
        scene_enqueue(&scene, job, NOW);
    }
    batch_take_all(&scene, MEMBERS, NOW, claims);
    struct job twin = scene_job(&scene);
    twin.key = "one";
    scene_enqueue(&scene, twin, NOW);
    ASSERT_STATE(&scene, &twin.id, JOB_BLOCKED);
    for (size_t i = 0; i < MEMBERS; i++)
        acks[i] = batch_plain_ack(&claims[i]);
    batch_settle(&scene, acks, MEMBERS, NOW + 10, verdicts);
    for (size_t i = 0; i < MEMBERS; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
    ASSERT_STATE(&scene, &twin.id, JOB_READY);
    ck_assert_msg(scene_backend()->backdoor->is_sound(scene.url, why, sizeof why), "%s", why);
}
END_TEST

static size_t take_limited(struct scene *scene, size_t max_running)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, MEMBERS);

    scene->share.max_running = max_running;
    scene_reserve(scene, &wanted, NOW, &taken);
    return taken.count;
}

START_TEST(each_member_counts_for_max_running)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct uuid more[MEMBERS];

    scene_add_many(&batch->scene, MEMBERS, more);
    ck_assert_uint_eq(take_limited(&batch->scene, MEMBERS), 0);
    batch_ack_some(batch, 0, 4, false);
    scene_cancel(&batch->scene, &batch->ids[1], NOW);
    ck_assert_uint_eq(take_limited(&batch->scene, MEMBERS), MEMBERS / 4);
    ck_assert_uint_eq(take_limited(&batch->scene, MEMBERS), 0);
}
END_TEST

/* ---- the end of a batch ---- */

START_TEST(a_batch_that_ran_out_is_taken_back_member_by_member)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct error err = {0};
    size_t moved;

    batch_ack_some(batch, 0, HALF, false); /* 0 and HALF */
    MUST(store_reclaim(batch->scene.store, NOW + LEASE - 1, MANY, &moved, &err));
    ck_assert_uint_eq(moved, 0);
    MUST(store_reclaim(batch->scene.store, NOW + LEASE, 3, &moved, &err));
    ck_assert_uint_eq(moved, 3);
    batch_assert_running(batch, MEMBERS - 5);
    ck_assert_uint_eq(scene_reclaim(&batch->scene, NOW + LEASE), MEMBERS - 5);
    batch_assert_running(batch, 0);
    const struct job *job = scene_get(&batch->scene, &batch->ids[1], &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ck_assert_int_eq(job->stalls, 1);
    ck_assert_int_eq(job->executions, 1);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].outcome, RUN_STALLED);
    ASSERT_TIME(job->runs[0].started_at, NOW);
}
END_TEST

START_TEST(a_batch_that_ran_out_is_reserved_again_in_its_order)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    struct claim again[MEMBERS];

    batch_take_all(&batch->scene, MEMBERS, NOW + LEASE, again);
    for (size_t i = 0; i < MEMBERS; i++) {
        ASSERT_SAME_ID(&again[i].id, &batch->ids[i]);
        ck_assert_int_eq(again[i].executions, 2);
        ck_assert_int_eq(again[i].stalls, 1);
        struct settlement late = batch_plain_ack(&batch->claims[i]);
        ASSERT_VERDICT(scene_settle(&batch->scene, &late, NOW + LEASE), TH_E_LEASE_MISMATCH);
    }
    batch_assert_running(batch, MEMBERS);
}
END_TEST

START_TEST(members_are_listed_and_found_one_by_one)
{
    CLEANUP(batch_close) struct batch *batch = batch_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {.by_state = true,
                                      .state = JOB_RUNNING,
                                      .queue = batch->scene.queue,
                                      .limit = MANY,
                                      .oldest_first = true};

    batch_ack_some(batch, 0, 2, false);
    scene_list(&batch->scene, &filter, &list);
    ck_assert_uint_eq(list.count, HALF);
    for (size_t i = 0; i < HALF; i++) {
        const struct uuid *id = &batch->ids[2 * i + 1];
        ASSERT_SAME_ID(&list.items[i].id, id);
        ck_assert_str_eq(list.items[i].pool, POOL);
        ck_assert_int_eq(list.items[i].executions, 1);
        ASSERT_VERDICT(scene_run_now(&batch->scene, id, NOW + 20), TH_E_CONFLICT);
        ASSERT_VERDICT(scene_requeue(&batch->scene, id, 0, NOW + 20), TH_E_CONFLICT);
        ASSERT_VERDICT(scene_remove(&batch->scene, id), TH_E_CONFLICT);
    }
    batch_assert_running(batch, HALF);
}
END_TEST

/* ---- what stays ---- */

/* Of a queue with others in between only what was asked for leaves its place. */
START_TEST(jobs_of_other_types_and_priorities_stay_in_line)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    CLEANUP(job_list_done) struct job_list rest = {0};
    struct reservation wanted = scene_wants(&scene, MEMBERS);
    const char *type = "work";
    struct uuid other[3 * MEMBERS];
    size_t others = 0;

    for (int i = 0; i < 3 * MEMBERS; i++) {
        struct job job = scene_job(&scene);
        job.type = i % 2 == 0 ? "work" : "other";
        job.priority = i < MEMBERS ? 5 : 4;
        scene_enqueue(&scene, job, NOW + i);
        if (i % 2 == 1)
            other[others++] = job.id;
    }
    wanted.types = &type;
    wanted.type_count = 1;
    scene_reserve(&scene, &wanted, NOW + SECONDS(1), &taken);
    ck_assert_uint_eq(taken.count, MEMBERS);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_READY], 2 * MEMBERS);
    wanted = scene_wants(&scene, MANY);
    scene_reserve(&scene, &wanted, NOW + SECONDS(1), &rest);
    ck_assert_uint_eq(rest.count, 2 * MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++)
        ASSERT_SAME_ID(&rest.items[i].id, &other[HALF + i]);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_READY], 0);
}
END_TEST

Suite *batch_told_suite(void)
{
    Suite *suite = suite_create("batch_told");
    TCase *told = contract_group(suite, "told");
    TCase *over = contract_group(suite, "over");

    tcase_add_test(told, each_member_is_held_as_it_was_reserved);
    tcase_add_test(told, queues_reserved_by_one_call_are_settled_each_by_itself);
    tcase_add_test(told, keyed_jobs_among_plain_ones_unblock_their_twins);
    tcase_add_test(told, each_member_counts_for_max_running);
    tcase_add_test(told, members_are_listed_and_found_one_by_one);
    tcase_add_test(told, jobs_of_other_types_and_priorities_stay_in_line);
    tcase_add_test(over, a_batch_that_ran_out_is_taken_back_member_by_member);
    tcase_add_test(over, a_batch_that_ran_out_is_reserved_again_in_its_order);
    return suite;
}
