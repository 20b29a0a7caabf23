/*
 * test_dead_groups.c - what the newest dead jobs died of: client/dead_groups.c on every store.
 */
#include "client/dead_groups.h"
#include "contract.h"
#include "scene.h"

/* It dies of that. */
static struct uuid kill_job(struct scene *scene, const char *type, const char *error, usec_t now)
{
    struct job job = scene_job(scene);

    job.type = type;
    scene_enqueue(scene, job, NOW);
    const struct claim claim = scene_take_this(scene, &job.id, now);
    struct settlement settlement = claim_settlement(&claim, SETTLE_FAIL);
    settlement.error = error;
    ASSERT_VERDICT(scene_settle(scene, &settlement, now), TH_OK);
    return job.id;
}

START_TEST(dead_jobs_are_grouped_by_type_and_kind_of_error)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(dead_groups_done) struct dead_groups groups = {0};
    struct error err;

    kill_job(&scene, "mail", "no customer 7", NOW + 1);
    kill_job(&scene, "push", "no customer 8", NOW + 2);
    kill_job(&scene, "mail", "away", NOW + 3);
    const struct uuid last = kill_job(&scene, "mail", "no customer 12", NOW + 4);
    scene_add(&scene);
    MUST(dead_groups_read(scene.store, &groups, &err));
    ck_assert_uint_eq(groups.count, 3);
    ck_assert_uint_eq(groups.looked_at, 4);
    ck_assert(!groups.is_cut);

    const struct dead_group *largest = &groups.items[0];
    ck_assert_str_eq(largest->type, "mail");
    ck_assert_str_eq(largest->error, "no customer #");
    ck_assert_uint_eq(largest->count, 2);
    ASSERT_TIME(largest->first, NOW + 1);
    ASSERT_TIME(largest->last, NOW + 4);
    ASSERT_SAME_ID(&largest->example, &last);
    ck_assert_uint_eq(largest->queue_count, 1);
    ck_assert_str_eq(largest->queues[0], scene.queue);
    ck_assert_str_eq(groups.items[1].error, "away");
    ck_assert_str_eq(groups.items[2].type, "push");
}
END_TEST

START_TEST(the_queues_of_a_group_are_named_up_to_a_number)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(dead_groups_done) struct dead_groups groups = {0};
    struct error err;

    for (char letter = 'a'; letter < 'a' + DEAD_GROUP_QUEUES + 2; letter++) {
        scene.queue[0] = letter;
        kill_job(&scene, "mail", "away", NOW);
    }
    MUST(dead_groups_read(scene.store, &groups, &err));
    ck_assert_uint_eq(groups.count, 1);
    ck_assert_uint_eq(groups.items[0].count, DEAD_GROUP_QUEUES + 2);
    ck_assert_uint_gt(groups.items[0].queue_count, DEAD_GROUP_QUEUES);
}
END_TEST

START_TEST(nobody_is_dead)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(dead_groups_done) struct dead_groups groups = {0};
    struct error err;

    MUST(dead_groups_read(scene.store, &groups, &err));
    ck_assert_uint_eq(groups.count, 0);
    ck_assert(!groups.is_cut);
}
END_TEST

Suite *dead_groups_suite(void)
{
    Suite *suite = suite_create("dead_groups");
    TCase *dead = contract_group(suite, "dead");

    tcase_add_test(dead, dead_jobs_are_grouped_by_type_and_kind_of_error);
    tcase_add_test(dead, the_queues_of_a_group_are_named_up_to_a_number);
    tcase_add_test(dead, nobody_is_dead);
    return suite;
}
