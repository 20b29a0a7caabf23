/*
 * test_aside.c - ready jobs that nobody can run now: out of the way of the others, and seen.
 */
#include "asides.h"
#include "contract.h"

#include <string.h>

static const enum job_aside reasons[] = {ASIDE_NO_HANDLER, ASIDE_CANNOT_START};

/* ---- set aside ---- */

START_TEST(a_job_set_aside_is_ready_and_nobody_gets_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const enum job_aside why = reasons[_i];
    struct uuid id = asides_bring(&scene, "strange", why, NOW - 5);
    const struct job *job = scene_get(&scene, &id, &list);

    ASSERT_STATE(&scene, &id, JOB_READY);
    ck_assert_int_eq(job->aside, why);
    ASSERT_TIME(job->aside_since, NOW - 5);
    scene_take_nothing(&scene, NOW);
    scene_take_nothing(&scene, NOW + USEC_PER_DAY);
}
END_TEST

START_TEST(setting_aside_counts_nothing_and_keeps_the_place)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = asides_add(&scene, "strange", 3, NOW - 9);
    struct claim claim = scene_take_this(&scene, &id, NOW);

    asides_set(&scene, &claim, ASIDE_NO_HANDLER, NOW);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_int_eq(job->attempts, 0);
    ck_assert_int_eq(job->stalls, 0);
    ck_assert_int_eq(job->priority, 3);
    ASSERT_TIME(job->due, NOW - 9);
    ASSERT_TIME(job->failed_at, 0);
    ck_assert_ptr_null(job->last_error);
    ck_assert_uint_eq(job->run_count, 0);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 0);
}
END_TEST

START_TEST(why_it_cannot_be_started_is_shown_while_it_is_aside_and_not_after)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0}, after = {0};
    struct uuid id = asides_bring(&scene, "broken", ASIDE_CANNOT_START, NOW);

    ck_assert_str_eq(scene_get(&scene, &id, &list)->last_error, "there is no such program");
    asides_bring_back(&scene, "broken", ASIDE_CANNOT_START, MANY);
    ck_assert_ptr_null(scene_get(&scene, &id, &after)->last_error);
    ck_assert_int_eq(after.items[0].aside, ASIDE_NONE);
    ASSERT_TIME(after.items[0].aside_since, 0);
}
END_TEST

START_TEST(what_was_never_started_is_set_aside_by_its_token_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = asides_add(&scene, "strange", 5, NOW);
    struct claim claim = scene_take_this(&scene, &id, NOW);
    struct settlement settlement = asides_settlement(&claim, ASIDE_NO_HANDLER, NOW);

    ASSERT_VERDICT(scene_settle(&scene, &settlement, claim.expires_at), TH_OK);
    scene_take_nothing(&scene, claim.expires_at);
}
END_TEST

START_TEST(a_run_that_could_not_be_started_needs_the_valid_lease_and_is_kept)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = asides_add(&scene, "broken", 5, NOW);
    struct claim claim = scene_take_this(&scene, &id, NOW);
    struct settlement settlement = asides_settlement(&claim, ASIDE_CANNOT_START, NOW);

    settlement.has_run = true;
    settlement.run.started_at = NOW;
    settlement.run.error = "no program";
    ASSERT_VERDICT(scene_settle(&scene, &settlement, claim.expires_at), TH_E_LEASE_EXPIRED);
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW), TH_OK);
    const struct job *job = scene_get(&scene, &id, &list);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].outcome, RUN_RELEASED);
    ck_assert_str_eq(job->runs[0].error, "no program");
}
END_TEST

START_TEST(a_job_without_a_reason_is_not_set_aside)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take_this(&scene, &id, NOW);
    struct settlement settlement = asides_settlement(&claim, ASIDE_NONE, NOW);
    const struct settlement_list list = {&settlement, 1};
    enum th_error_code verdict;
    struct error err = {0};

    MUST_FAIL(TH_E_INVALID, store_settle(scene.store, &list, NOW, &verdict, &err));
}
END_TEST

/* Several at once may go another way than one alone. */
START_TEST(many_are_set_aside_together)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, 10);
    struct settlement settlements[10];
    enum th_error_code verdicts[10];
    struct error err = {0};

    for (int i = 0; i < 10; i++)
        asides_add(&scene, i % 2 ? "strange" : "broken", 5, NOW);
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 10);
    for (size_t i = 0; i < taken.count; i++) {
        struct claim claim = claim_of(&scene, &taken.items[i]);
        settlements[i] = asides_settlement(
            &claim, strcmp(taken.items[i].type, "broken") ? ASIDE_NO_HANDLER : ASIDE_CANNOT_START,
            NOW);
    }
    MUST(
        store_settle(scene.store, &(struct settlement_list){settlements, 10}, NOW, verdicts, &err));
    for (size_t i = 0; i < 10; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
    scene_take_nothing(&scene, NOW);
    ck_assert_int_eq(scene_stats(&scene).no_handler, 5);
    ck_assert_int_eq(scene_stats(&scene).cannot_start, 5);
}
END_TEST

/* ---- seen ---- */

START_TEST(what_is_aside_counts_as_ready_and_for_its_reason)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    asides_bring(&scene, "broken", ASIDE_CANNOT_START, NOW);
    asides_add(&scene, "work", 5, NOW + 3);
    const struct queue_stats stats = scene_stats(&scene);
    ck_assert_int_eq(stats.jobs[JOB_READY], 4);
    ck_assert_int_eq(stats.no_handler, 2);
    ck_assert_int_eq(stats.cannot_start, 1);
    ASSERT_TIME(stats.oldest_ready, NOW);
}
END_TEST

START_TEST(what_is_aside_is_listed_among_the_ready_ones_in_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid ids[4];
    const struct job_filter ready = {.by_state = true,
                                     .state = JOB_READY,
                                     .queue = scene.queue,
                                     .oldest_first = _i == 0,
                                     .limit = 10};

    for (int i = 0; i < 4; i++) {
        ids[i] = asides_add(&scene, "some", 9 - i, NOW + i);
        if (i % 2 == 0) {
            struct claim claim = scene_take_type(&scene, "some", NOW + 4, LEASE);
            ck_assert_mem_eq(&claim.id, i == 0 ? &ids[0] : &ids[2], sizeof(struct uuid));
            asides_set(&scene, &claim, ASIDE_NO_HANDLER, NOW);
        }
    }
    scene_list(&scene, &ready, &list);
    ck_assert_uint_eq(list.count, 4);
    for (int i = 0; i < 4; i++)
        ASSERT_SAME_ID(&list.items[i].id, &ids[_i == 0 ? i : 3 - i]);
    ck_assert_int_eq(list.items[_i == 0 ? 0 : 3].aside, ASIDE_NO_HANDLER);
}
END_TEST

START_TEST(what_cannot_be_started_is_found_by_its_error)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid id = asides_bring(&scene, "broken", ASIDE_CANNOT_START, NOW);
    const struct job_filter failed = {.by_state = true,
                                      .state = JOB_READY,
                                      .queue = scene.queue,
                                      .error = "such program",
                                      .limit = 10};

    asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    scene_list(&scene, &failed, &list);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &id);
}
END_TEST

/* ---- which types ---- */

START_TEST(each_type_and_reason_is_told_once_with_its_oldest)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(aside_list_done) struct aside_list types = {0};

    asides_bring(&scene, "a", ASIDE_NO_HANDLER, NOW - 1);
    asides_bring(&scene, "a", ASIDE_NO_HANDLER, NOW - 3);
    asides_bring(&scene, "a", ASIDE_CANNOT_START, NOW - 2);
    asides_bring(&scene, "a-b", ASIDE_NO_HANDLER, NOW);
    asides_bring(&scene, "a.b", ASIDE_NO_HANDLER, NOW);
    asides_look(&scene, &types);
    ck_assert_uint_eq(types.count, 4);
    for (size_t i = 0; i < types.count; i++) {
        const struct aside_type *type = &types.items[i];
        ck_assert_str_eq(type->queue, scene.queue);
        if (strcmp(type->type, "a") == 0)
            ASSERT_TIME(type->since, type->why == ASIDE_NO_HANDLER ? NOW - 3 : NOW - 2);
        else
            ck_assert_int_eq(type->why, ASIDE_NO_HANDLER);
    }
}
END_TEST

START_TEST(all_queues_are_looked_at_when_none_is_named)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(aside_list_done) struct aside_list types = {0}, none = {0};
    const char *const others[] = {"another"};
    struct error err = {0};

    for (int i = 0; i < 3; i++) {
        scene.queue[0] = (char)('a' + i);
        asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    }
    MUST(store_aside(scene.store, NULL, 0, &types, &err));
    ck_assert_uint_eq(types.count, 3);
    MUST(store_aside(scene.store, others, 1, &none, &err));
    ck_assert_uint_eq(none.count, 0);
}
END_TEST

/* ---- people, and keys ---- */

START_TEST(a_job_that_is_aside_can_be_cancelled)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(aside_list_done) struct aside_list types = {0};
    struct uuid id = asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);

    ASSERT_VERDICT(scene_cancel(&scene, &id, NOW), TH_OK);
    ASSERT_STATE(&scene, &id, JOB_CANCELLED);
    asides_look(&scene, &types);
    ck_assert_uint_eq(types.count, 0);
    ck_assert_int_eq(scene_stats(&scene).no_handler, 0);
    ASSERT_VERDICT(scene_remove(&scene, &id), TH_OK);
}
END_TEST

START_TEST(one_that_was_asked_to_cancel_ends_instead_of_being_set_aside)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = asides_add(&scene, "strange", 5, NOW);
    struct claim claim = scene_take_this(&scene, &id, NOW);

    ASSERT_VERDICT(scene_cancel(&scene, &id, NOW), TH_OK);
    asides_set(&scene, &claim, ASIDE_NO_HANDLER, NOW);
    ASSERT_STATE(&scene, &id, JOB_CANCELLED);
}
END_TEST

static struct job keyed_job(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.key = "door";
    return job;
}

START_TEST(a_keyed_job_that_is_aside_is_updated_in_place)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = keyed_job(&scene), again = keyed_job(&scene);

    scene_enqueue(&scene, job, NOW);
    struct claim claim = scene_take(&scene, NOW);
    asides_set(&scene, &claim, ASIDE_NO_HANDLER, NOW);
    const struct enqueued enqueued = scene_enqueue(&scene, again, NOW + 1);
    ck_assert(enqueued.updated);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    scene_take_this(&scene, &job.id, NOW + 1);
}
END_TEST

START_TEST(a_blocked_twin_is_merged_into_the_one_that_is_set_aside)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = keyed_job(&scene), twin = keyed_job(&scene);

    twin.update.run_at = _i == 0 ? UPDATE_RUN_AT_NEVER : UPDATE_RUN_AT_ALWAYS;
    scene_enqueue(&scene, job, NOW);
    struct claim claim = scene_take(&scene, NOW);
    scene_enqueue(&scene, twin, NOW);
    ASSERT_STATE(&scene, &twin.id, JOB_BLOCKED);
    asides_set(&scene, &claim, ASIDE_NO_HANDLER, NOW);
    ASSERT_STATE(&scene, &twin.id, JOB_CANCELLED);
    ASSERT_STATE(&scene, &job.id, JOB_READY);
    if (_i == 0)
        scene_take_nothing(&scene, NOW);
    else /* it has another place now, and is looked at anew */
        scene_take_this(&scene, &job.id, NOW);
}
END_TEST

START_TEST(the_key_of_one_that_is_given_up_is_free)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = keyed_job(&scene), next = keyed_job(&scene);

    scene_enqueue(&scene, job, NOW);
    struct claim claim = scene_take(&scene, NOW);
    asides_set(&scene, &claim, ASIDE_NO_HANDLER, AGES_AGO);
    ck_assert_uint_eq(asides_give_up(&scene, job.type, ASIDE_NO_HANDLER, AGES_AGO), 1);
    ck_assert(!scene_enqueue(&scene, next, NOW + 1).updated);
    scene_take_this(&scene, &next.id, NOW + 1);
}
END_TEST

START_TEST(a_keyed_job_comes_back_and_runs_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = keyed_job(&scene), twin = keyed_job(&scene);

    scene_enqueue(&scene, job, NOW);
    struct claim claim = scene_take(&scene, NOW);
    asides_set(&scene, &claim, ASIDE_CANNOT_START, NOW);
    ck_assert_uint_eq(asides_bring_back(&scene, job.type, ASIDE_CANNOT_START, MANY), 1);
    claim = scene_take_this(&scene, &job.id, NOW);
    scene_enqueue(&scene, twin, NOW);
    ASSERT_STATE(&scene, &twin.id, JOB_BLOCKED);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    scene_take_this(&scene, &twin.id, NOW);
}
END_TEST

Suite *aside_suite(void)
{
    Suite *suite = suite_create("aside");
    TCase *set = contract_group(suite, "set_aside"), *seen = contract_group(suite, "seen"),
          *people = contract_group(suite, "people"), *keyed = contract_group(suite, "keyed_aside");

    tcase_add_loop_test(set, a_job_set_aside_is_ready_and_nobody_gets_it, 0, COUNT_OF(reasons));
    tcase_add_test(set, setting_aside_counts_nothing_and_keeps_the_place);
    tcase_add_test(set, why_it_cannot_be_started_is_shown_while_it_is_aside_and_not_after);
    tcase_add_test(set, what_was_never_started_is_set_aside_by_its_token_alone);
    tcase_add_test(set, a_run_that_could_not_be_started_needs_the_valid_lease_and_is_kept);
    tcase_add_test(set, a_job_without_a_reason_is_not_set_aside);
    tcase_add_test(set, many_are_set_aside_together);
    tcase_add_test(seen, what_is_aside_counts_as_ready_and_for_its_reason);
    tcase_add_loop_test(seen, what_is_aside_is_listed_among_the_ready_ones_in_order, 0, 2);
    tcase_add_test(seen, what_cannot_be_started_is_found_by_its_error);
    tcase_add_test(seen, each_type_and_reason_is_told_once_with_its_oldest);
    tcase_add_test(seen, all_queues_are_looked_at_when_none_is_named);
    tcase_add_test(people, a_job_that_is_aside_can_be_cancelled);
    tcase_add_test(people, one_that_was_asked_to_cancel_ends_instead_of_being_set_aside);
    tcase_add_test(keyed, a_keyed_job_that_is_aside_is_updated_in_place);
    tcase_add_loop_test(keyed, a_blocked_twin_is_merged_into_the_one_that_is_set_aside, 0, 2);
    tcase_add_test(keyed, the_key_of_one_that_is_given_up_is_free);
    tcase_add_test(keyed, a_keyed_job_comes_back_and_runs_alone);
    return suite;
}
