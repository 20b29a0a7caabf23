/*
 * test_bring_back.c - what was set aside comes back to its place, or to its end.
 */
#include "asides.h"
#include "contract.h"
#include "job/aside.h"

static const enum job_aside reasons[] = {ASIDE_NO_HANDLER, ASIDE_CANNOT_START};

/* ---- back into line ---- */

START_TEST(what_is_brought_back_is_reserved_in_its_place)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid urgent = asides_add(&scene, "strange", 1, NOW + 2);
    struct uuid first = asides_add(&scene, "strange", 5, NOW);
    struct uuid second = asides_add(&scene, "work", 5, NOW + 1);
    struct uuid third = asides_add(&scene, "strange", 5, NOW + 2);
    const struct uuid *order[] = {&urgent, &first, &second, &third};

    for (int i = 0; i < 3; i++) {
        struct claim claim = scene_take_type(&scene, "strange", NOW + 3, LEASE);
        asides_set(&scene, &claim, ASIDE_NO_HANDLER, NOW + 3);
    }
    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_NO_HANDLER, MANY), 3);
    for (size_t i = 0; i < COUNT_OF(order); i++)
        scene_take_this(&scene, order[i], NOW + 4);
}
END_TEST

START_TEST(no_more_than_the_limit_come_back_and_the_first_in_line_come_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid first = asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    struct uuid second = asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW - 5);

    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_NO_HANDLER, 1), 1);
    scene_take_this(&scene, &first, NOW);
    scene_take_nothing(&scene, NOW);
    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_NO_HANDLER, 1), 1);
    scene_take_this(&scene, &second, NOW);
    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_NO_HANDLER, 1), 0);
    ck_assert_int_eq(scene_stats(&scene).no_handler, 0);
}
END_TEST

START_TEST(only_its_own_type_and_reason_come_back)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    asides_bring(&scene, "stranger", ASIDE_NO_HANDLER, NOW);
    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_CANNOT_START, MANY), 0);
    ck_assert_uint_eq(asides_bring_back(&scene, "strang", ASIDE_NO_HANDLER, MANY), 0);
    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_NO_HANDLER, MANY), 1);
    ck_assert_int_eq(scene_stats(&scene).no_handler, 1);
}
END_TEST

START_TEST(those_that_have_waited_for_long_can_be_brought_back_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const struct aside_type broken = asides_kind(&scene, "broken", ASIDE_CANNOT_START);
    struct error err = {0};
    size_t moved;

    asides_bring(&scene, "broken", ASIDE_CANNOT_START, NOW);
    struct uuid old = asides_bring(&scene, "broken", ASIDE_CANNOT_START, AGES_AGO);
    MUST(store_bring_back(scene.store, &broken, AGES_AGO, MANY, &moved, &err));
    ck_assert_uint_eq(moved, 1);
    scene_take_this(&scene, &old, NOW);
    scene_take_nothing(&scene, NOW);
}
END_TEST

START_TEST(more_come_back_at_once_than_a_driver_moves_at_a_time)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid ids[700];
    struct error err = {0};
    size_t moved;

    for (int i = 0; i < 3; i++) {
        CLEANUP(job_list_done) struct job_list taken = {0};
        struct reservation wanted = scene_wants(&scene, MANY);
        struct settlement settlements[MANY];
        enum th_error_code verdicts[MANY];
        scene_add_many(&scene, 700, ids);
        scene_reserve(&scene, &wanted, NOW, &taken);
        ck_assert_uint_eq(taken.count, 700);
        for (size_t k = 0; k < taken.count; k++) {
            struct claim claim = claim_of(&scene, &taken.items[k]);
            settlements[k] = asides_settlement(&claim, ASIDE_NO_HANDLER, NOW);
        }
        MUST(store_settle(scene.store, &(struct settlement_list){settlements, taken.count}, NOW,
                          verdicts, &err));
    }
    CLEANUP(aside_list_done) struct aside_list types = {0};
    asides_look(&scene, &types);
    ck_assert_uint_eq(types.count, 1);
    MUST(store_bring_back(scene.store, &types.items[0], 0, 2050, &moved, &err));
    ck_assert_uint_eq(moved, 2050);
    ck_assert_int_eq(scene_stats(&scene).no_handler, 50);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_READY], 2100);
}
END_TEST

START_TEST(whoever_sleeps_is_woken_by_what_comes_back)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};
    bool rang = false;

    asides_bring(&scene, "strange", ASIDE_NO_HANDLER, NOW);
    struct store *sleeper = child_open(scene.url);
    int fd;
    MUST(store_wait_fd(sleeper, &fd, &err));
    do /* the first call says that something may be ready, and bells of before may still ring */
        MUST(store_wait(sleeper, 200 * USEC_PER_MSEC, &rang, &err));
    while (rang);
    scene_take_nothing(&scene, NOW);
    ck_assert_uint_eq(asides_bring_back(&scene, "strange", ASIDE_NO_HANDLER, 1), 1);
    MUST(store_wait(sleeper, SECONDS(20), &rang, &err));
    ck_assert(rang);
    store_close(&sleeper);
}
END_TEST

/* ---- to its end ---- */

START_TEST(what_has_waited_too_long_is_dead_for_its_reason)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const enum job_aside why = reasons[_i];
    struct uuid old = asides_bring(&scene, "strange", why, AGES_AGO);
    struct uuid young = asides_bring(&scene, "strange", why, AGES_AGO + 1);

    ck_assert_uint_eq(asides_give_up(&scene, "strange", why, AGES_AGO), 1);
    ASSERT_STATE(&scene, &young, JOB_READY);
    const struct job *job = scene_get(&scene, &old, &list);
    ck_assert_int_eq(job->state, JOB_DEAD);
    ck_assert_int_eq(job->reason, aside_reason(why));
    ck_assert_int_eq(job->aside, ASIDE_NONE);
    ck_assert_str_eq(job->last_error,
                     why == ASIDE_CANNOT_START ? "there is no such program" : aside_epitaph(why));
    ASSERT_TIME(job->ended_at, NOW + 7);
    ASSERT_TIME(job->failed_at, NOW + 7);
    const struct queue_stats stats = scene_stats(&scene);
    ck_assert_int_eq(stats.jobs[JOB_DEAD], 1);
    ck_assert_int_eq(stats.jobs[JOB_READY], 1);
    ck_assert_int_eq(stats.no_handler + stats.cannot_start, 1);
}
END_TEST

START_TEST(one_that_was_given_up_can_be_tried_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = asides_bring(&scene, "strange", ASIDE_NO_HANDLER, AGES_AGO);

    asides_give_up(&scene, "strange", ASIDE_NO_HANDLER, AGES_AGO);
    ASSERT_VERDICT(scene_requeue(&scene, &id, 0, NOW), TH_OK);
    scene_take_this(&scene, &id, NOW);
}
END_TEST

Suite *bring_back_suite(void)
{
    Suite *suite = suite_create("bring_back");
    TCase *back = contract_group(suite, "back"), *end = contract_group(suite, "given_up");

    tcase_add_test(back, what_is_brought_back_is_reserved_in_its_place);
    tcase_add_test(back, no_more_than_the_limit_come_back_and_the_first_in_line_come_first);
    tcase_add_test(back, only_its_own_type_and_reason_come_back);
    tcase_add_test(back, those_that_have_waited_for_long_can_be_brought_back_alone);
    tcase_add_test(back, more_come_back_at_once_than_a_driver_moves_at_a_time);
    tcase_add_test(back, whoever_sleeps_is_woken_by_what_comes_back);
    tcase_add_loop_test(end, what_has_waited_too_long_is_dead_for_its_reason, 0, COUNT_OF(reasons));
    tcase_add_test(end, one_that_was_given_up_can_be_tried_again);
    return suite;
}
