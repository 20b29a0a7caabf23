#include "config/config.h"
#include "dispatcher/queues.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static struct queue_config three[] = {
    {.name = "a", .weight = 1},
    {.name = "b", .weight = 2},
    {.name = "c", .weight = 5, .max_running = 7},
};
static const struct config config = {.queues = three, .queue_count = COUNT_OF(three)};
static struct queues queues;

static void set_up(void)
{
    struct error err;

    ck_assert(queues_init(&queues, &config, &err));
}

static void tear_down(void)
{
    queues_done(&queues);
}

static size_t share_of(size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(queues.shares[i].queue, name) == 0)
            return queues.shares[i].max;
    }
    return 0;
}

/* An exchange in which the queue gave so many. */
static void give(const char *name, size_t count)
{
    for (size_t i = 0; i < count; i++)
        queues_count(&queues, name);
}

START_TEST(the_room_is_shared_by_weight)
{
    const size_t count = queues_share(&queues, 80);

    ck_assert_uint_eq(share_of(count, "a"), 10);
    ck_assert_uint_eq(share_of(count, "b"), 20);
    ck_assert_uint_eq(share_of(count, "c"), 50);
}
END_TEST

START_TEST(shares_are_exact_over_many_small_rooms)
{
    size_t got[COUNT_OF(three)] = {0};

    for (int i = 0; i < 800; i++) {
        const size_t count = queues_share(&queues, 1);

        ck_assert_uint_eq(count, 1);
        for (size_t k = 0; k < COUNT_OF(three); k++)
            got[k] += share_of(count, three[k].name);
        give(queues.shares[0].queue, 1);
        queues_conclude(&queues);
    }
    ck_assert_uint_eq(got[0], 100);
    ck_assert_uint_eq(got[1], 200);
    ck_assert_uint_eq(got[2], 500);
}
END_TEST

START_TEST(what_a_dry_queue_leaves_goes_to_the_others)
{
    queues_share(&queues, 80);
    give("a", 10);
    give("b", 20);
    queues_conclude(&queues); /* c gave nothing */

    const size_t count = queues_share(&queues, 30);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(share_of(count, "a"), 10);
    ck_assert_uint_eq(share_of(count, "b"), 20);
}
END_TEST

START_TEST(when_all_are_dry_nobody_is_asked_until_the_bell)
{
    queues_share(&queues, 80);
    queues_conclude(&queues);
    ck_assert(queues_are_dry(&queues));
    ck_assert_uint_eq(queues_share(&queues, 10), 0);
    queues_wake(&queues);
    ck_assert(!queues_are_dry(&queues));
    ck_assert_uint_gt(queues_share(&queues, 10), 0);
}
END_TEST

START_TEST(a_queue_that_was_dry_does_not_take_a_long_turn_alone)
{
    size_t got = 0;

    for (int i = 0; i < 100; i++) {
        queues_share(&queues, 8);
        give("b", 2);
        give("c", 5);
        queues_conclude(&queues); /* a is dry */
    }
    queues_wake(&queues);
    got = share_of(queues_share(&queues, 80), "a");
    ck_assert_uint_le(got, 11);
}
END_TEST

START_TEST(a_limit_goes_along_with_the_share)
{
    const size_t count = queues_share(&queues, 80);

    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(queues.shares[i].max_running,
                          strcmp(queues.shares[i].queue, "c") == 0 ? 7 : 0);
}
END_TEST

START_TEST(a_full_queue_is_asked_again_when_one_of_its_jobs_has_ended)
{
    queues_share(&queues, 80);
    queues_conclude(&queues);
    queues_note_end(&queues, "a"); /* has no limit: it was empty, and still is */
    ck_assert(queues_are_dry(&queues));
    queues_note_end(&queues, "c");
    ck_assert_uint_eq(share_of(queues_share(&queues, 10), "c"), 10);
}
END_TEST

Suite *queues_suite(void)
{
    Suite *suite = suite_create("dispatcher/queues");
    TCase *cases = tcase_create("queues");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, the_room_is_shared_by_weight);
    tcase_add_test(cases, shares_are_exact_over_many_small_rooms);
    tcase_add_test(cases, what_a_dry_queue_leaves_goes_to_the_others);
    tcase_add_test(cases, when_all_are_dry_nobody_is_asked_until_the_bell);
    tcase_add_test(cases, a_queue_that_was_dry_does_not_take_a_long_turn_alone);
    tcase_add_test(cases, a_full_queue_is_asked_again_when_one_of_its_jobs_has_ended);
    tcase_add_test(cases, a_limit_goes_along_with_the_share);
    suite_add_tcase(suite, cases);
    return suite;
}
