#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "dispatcher/queues.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static struct queue_config three[] = {
    {.name = "a", .weight = 1},
    {.name = "b", .weight = 2, .rate = {3, USEC_PER_SEC}},
    {.name = "c", .weight = 5, .max_running = 7},
};
static const struct config config = {.queues = three, .queue_count = COUNT_OF(three)};
static struct queues queues;

static void set_up(void)
{
    struct error err;

    ck_assert(queues_init(&queues, &config, &err));
    memset(queues.asking.limits, 0xff,
           COUNT_OF(three) * sizeof *queues.asking.limits); /* the store writes them */
}

static void tear_down(void)
{
    queues_done(&queues);
}

START_TEST(a_queue_of_remote_workers_is_never_asked)
{
    struct queue_config two[] = {{.name = "a", .weight = 1},
                                 {.name = "b", .weight = 1, .remote = true}};
    struct config remote = {.queues = two, .queue_count = COUNT_OF(two)};
    struct queues mine;
    struct error err;

    ck_assert(queues_init(&mine, &remote, &err));
    ck_assert_uint_eq(queues_share(&mine, 8), 1);
    ck_assert_str_eq(mine.asking.shares[0].queue, "a");
    queues_done(&mine);

    two[0].remote = true;
    ck_assert(queues_init(&mine, &remote, &err));
    ck_assert_uint_eq(queues_share(&mine, 8), 0);
    ck_assert_msg(queues_are_dry(&mine) && !queues_are_away(&mine),
                  "with nothing to ask there is nothing to wait for");
    queues_done(&mine);
}
END_TEST

static size_t share_of(size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(queues.asking.shares[i].queue, name) == 0)
            return queues.asking.shares[i].max;
    }
    return 0;
}

/* Asks all for `room`; the store says nothing about limits yet. */
static size_t ask(size_t room)
{
    const size_t count = queues_share(&queues, room);

    memset(queues.asking.limits, 0, count * sizeof *queues.asking.limits);
    return count;
}

/* What the store says about a queue that was asked. */
static struct share_limit *limit_of(size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(queues.asking.shares[i].queue, name) == 0)
            return &queues.asking.limits[i];
    }
    ck_abort_msg("%s was not asked", name);
    return NULL;
}

/* An exchange in which the queue gave so many. */
static void give(const char *name, size_t count)
{
    for (size_t i = 0; i < count; i++)
        queues_count(&queues, name);
}

START_TEST(the_room_is_shared_by_weight)
{
    const size_t count = ask(80);

    ck_assert_uint_eq(share_of(count, "a"), 10);
    ck_assert_uint_eq(share_of(count, "b"), 20);
    ck_assert_uint_eq(share_of(count, "c"), 50);
}
END_TEST

START_TEST(shares_are_exact_over_many_small_rooms)
{
    size_t got[COUNT_OF(three)] = {0};

    for (int i = 0; i < 800; i++) {
        const size_t count = ask(1);

        ck_assert_uint_eq(count, 1);
        for (size_t k = 0; k < COUNT_OF(three); k++)
            got[k] += share_of(count, three[k].name);
        give(queues.asking.shares[0].queue, 1);
        queues_conclude(&queues, 0);
    }
    ck_assert_uint_eq(got[0], 100);
    ck_assert_uint_eq(got[1], 200);
    ck_assert_uint_eq(got[2], 500);
}
END_TEST

START_TEST(what_a_dry_queue_leaves_goes_to_the_others)
{
    ask(80);
    give("a", 10);
    give("b", 20);
    queues_conclude(&queues, 0); /* c gave nothing */

    const size_t count = ask(30);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(share_of(count, "a"), 10);
    ck_assert_uint_eq(share_of(count, "b"), 20);
}
END_TEST

START_TEST(when_all_are_dry_nobody_is_asked_until_the_bell)
{
    ask(80);
    queues_conclude(&queues, 0);
    ck_assert(queues_are_dry(&queues));
    ck_assert_uint_eq(ask(10), 0);
    queues_wake(&queues);
    ck_assert(!queues_are_dry(&queues));
    ck_assert_uint_gt(ask(10), 0);
}
END_TEST

START_TEST(a_queue_that_was_dry_does_not_take_a_long_turn_alone)
{
    size_t got = 0;

    for (int i = 0; i < 100; i++) {
        ask(8);
        give("b", 2);
        give("c", 5);
        queues_conclude(&queues, 0); /* a is dry */
    }
    queues_wake(&queues);
    got = share_of(ask(80), "a");
    ck_assert_uint_le(got, 11);
}
END_TEST

START_TEST(limits_go_along_with_the_share)
{
    const size_t count = ask(80);

    for (size_t i = 0; i < count; i++) {
        const char *queue = queues.asking.shares[i].queue;

        ck_assert_uint_eq(queues.asking.shares[i].max_running, strcmp(queue, "c") == 0 ? 7 : 0);
        ck_assert_int_eq(queues.asking.shares[i].rate.count, strcmp(queue, "b") == 0 ? 3 : 0);
    }
}
END_TEST

START_TEST(a_full_queue_is_asked_again_when_one_of_its_jobs_has_ended)
{
    limit_of(ask(80), "c")->is_full = true;
    queues_conclude(&queues, 0);
    queues_note_end(&queues, "a"); /* was empty, and still is */
    ck_assert(!queues_may_give(&queues));
    queues_note_end(&queues, "c");
    ck_assert_uint_eq(share_of(ask(10), "c"), 10);
}
END_TEST

START_TEST(a_full_queue_is_asked_again_when_the_bell_rings)
{
    limit_of(ask(80), "c")->is_full = true;
    queues_conclude(&queues, 0);
    ck_assert(!queues_may_give(&queues));
    queues_wake(&queues);
    ck_assert_uint_gt(share_of(ask(80), "c"), 0);
}
END_TEST

#define SHIFT ((usec_t)-1000) /* boot time is behind the database's */

START_TEST(a_limited_queue_is_asked_again_at_its_time_and_not_before)
{
    limit_of(ask(80), "b")->limited_until = 5000;
    queues_conclude(&queues, SHIFT);
    queues_note_end(&queues, "b");
    queues_wake(&queues);
    ck_assert_uint_eq(share_of(ask(80), "b"), 0);
    queues_conclude(&queues, SHIFT);
    ck_assert_int_eq(queues_note_time(&queues, 3999), 4000);
    ck_assert(!queues_may_give(&queues));
    ck_assert_int_eq(queues_note_time(&queues, 4000), 0);
    ck_assert_uint_eq(share_of(ask(10), "b"), 10);
}
END_TEST

START_TEST(the_first_of_several_limited_queues_is_woken_for)
{
    const size_t count = ask(80);

    limit_of(count, "a")->limited_until = 9000;
    limit_of(count, "b")->limited_until = 5000;
    limit_of(count, "c")->limited_until = 7000;
    queues_conclude(&queues, 0);
    ck_assert_int_eq(queues_note_time(&queues, 1), 5000);
    ck_assert_int_eq(queues_note_time(&queues, 5000), 7000);
}
END_TEST

START_TEST(a_queue_that_is_full_and_limited_waits_for_its_time)
{
    const size_t count = ask(80);

    *limit_of(count, "c") = (struct share_limit){.is_full = true, .limited_until = 5000};
    queues_conclude(&queues, 0);
    queues_note_end(&queues, "c");
    ck_assert(!queues_may_give(&queues));
    queues_note_time(&queues, 5000);
    ck_assert(queues_may_give(&queues));
}
END_TEST

START_TEST(a_queue_that_has_something_ready_is_not_dry)
{
    limit_of(ask(80), "b")->limited_until = 5000;
    queues_conclude(&queues, 0);
    ck_assert(!queues_may_give(&queues));
    ck_assert(!queues_are_dry(&queues));

    queues_note_time(&queues, 5000);
    limit_of(ask(80), "b")->is_full = true;
    queues_conclude(&queues, 0);
    ck_assert(!queues_are_dry(&queues));

    queues_note_end(&queues, "b");
    ask(80);
    queues_conclude(&queues, 0); /* somebody else has taken it */
    ck_assert(queues_are_dry(&queues));
}
END_TEST

START_TEST(a_queue_is_away_until_it_answers)
{
    *limit_of(ask(80), "b") = (struct share_limit){.is_away = true, .limited_until = 5000};
    queues_conclude(&queues, 0);
    ck_assert(queues_miss_any(&queues));
    ck_assert(!queues_are_away(&queues));
    ck_assert(!queues_are_dry(&queues));

    queues_wake(&queues);
    ck_assert_uint_eq(share_of(ask(80), "b"), 0); /* it is left alone, and the others are not */
    queues_conclude(&queues, 0);
    ck_assert(queues_miss_any(&queues));

    queues_note_time(&queues, 5000);
    give("b", share_of(ask(80), "b"));
    queues_conclude(&queues, 0);
    ck_assert(!queues_miss_any(&queues));
}
END_TEST

START_TEST(all_queues_are_away_when_none_answers)
{
    const size_t count = ask(80);

    for (size_t i = 0; i < count; i++)
        queues.asking.limits[i] = (struct share_limit){.is_away = true, .limited_until = 5000};
    queues_conclude(&queues, 0);
    ck_assert(queues_are_away(&queues));
}
END_TEST

/* What the next exchange has to say of queue b: away, or all that it was asked for. */
static bool exchange_with_b(bool is_away, bool *back_out, struct error *err)
{
    const struct error why = {.code = TH_E_UNAVAILABLE, .text = "its node is down"};
    const struct error none = {0};

    queues_note_time(&queues, 5000);
    const size_t count = ask(80);

    give("a", share_of(count, "a"));
    give("c", share_of(count, "c"));
    *limit_of(count, "b") = (struct share_limit){.is_away = is_away, .limited_until = 5000};
    if (!is_away)
        give("b", share_of(count, "b"));
    queues_conclude(&queues, 0);
    return queues_tell_away(&queues, is_away ? &why : &none, 4000, back_out, err);
}

START_TEST(a_queue_that_is_back_is_told_once)
{
    struct error err;
    bool back;

    ck_assert(exchange_with_b(true, &back, &err) && !back);
    ck_assert(exchange_with_b(true, &back, &err) && !back);
    ck_assert(exchange_with_b(false, &back, &err) && back);
    ck_assert(exchange_with_b(false, &back, &err) && !back);
}
END_TEST

START_TEST(the_store_is_away_when_all_of_its_queues_are)
{
    const struct error why = {.code = TH_E_UNAVAILABLE, .text = "all nodes are down"};
    const size_t count = ask(80);
    struct error err = {0};
    bool back;

    for (size_t i = 0; i < count; i++)
        queues.asking.limits[i] = (struct share_limit){.is_away = true, .limited_until = 5000};
    queues_conclude(&queues, 0);
    ck_assert(!queues_tell_away(&queues, &why, 4000, &back, &err));
    ck_assert_str_eq(err.text, why.text);
}
END_TEST

/* ---- weights, while others cannot give what they should ---- */

#define STRETCH 300 /* jobs of a and b */

static uint64_t dice;

static size_t roll(size_t sides)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(dice >> 33) % sides;
}

/* One exchange: a and b have all that they are asked for, c has what its limit allows. */
static void exchange_with_limit(size_t room, size_t allowed, size_t got[COUNT_OF(three)])
{
    const size_t count = ask(room);

    for (size_t i = 0; i < COUNT_OF(three); i++) {
        const char *name = three[i].name;
        size_t given = share_of(count, name);

        if (strcmp(name, "c") == 0 && given > allowed) {
            given = allowed;
            limit_of(count, name)->is_full = true;
        }
        give(name, given);
        got[i] += given;
    }
    queues_conclude(&queues, 0);
}

/* How often c is let in again, out of ten exchanges. */
static const size_t wake_ups[] = {0, 1, 5, 10};

START_TEST(the_others_keep_their_proportion_while_one_is_limited)
{
    dice = (uint64_t)_i + 1;
    for (int stretch = 0; stretch < 100; stretch++) {
        size_t got[COUNT_OF(three)] = {0};

        while (got[0] + got[1] < STRETCH) {
            if (roll(10) < wake_ups[_i])
                queues_note_end(&queues, "c");
            exchange_with_limit(1 + roll(12), roll(4), got);
        }
        const double share = (double)got[0] / (double)(got[0] + got[1]);

        ck_assert_double_ge(share, 0.95 / 3);
        ck_assert_double_le(share, 1.05 / 3);
    }
}
END_TEST

/* It has found the queue dry, and then more has come: whoever looked later is right. */
START_TEST(the_later_of_two_exchanges_that_are_out_decides)
{
    CLEANUP(queue_asking_done) struct queue_asking first = {0};
    struct error err;
    size_t asked;

    ck_assert(queue_asking_init(&first, COUNT_OF(three), &err));
    ask(8);
    queues_swap_asking(&queues, &first);
    asked = share_of(ask(80), "a");
    queues_swap_asking(&queues, &first);
    queues_conclude(&queues, 0);
    ck_assert(queues_are_dry(&queues));
    queues_swap_asking(&queues, &first);
    give("a", asked);
    queues_conclude(&queues, 0);
    ck_assert(queues_may_give(&queues));
    ck_assert_uint_eq(share_of(ask(8), "a"), 8);
}
END_TEST

Suite *queues_suite(void)
{
    Suite *suite = suite_create("dispatcher/queues");
    TCase *cases = tcase_create("queues");

    tcase_add_test(cases, a_queue_of_remote_workers_is_never_asked);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, the_room_is_shared_by_weight);
    tcase_add_test(cases, shares_are_exact_over_many_small_rooms);
    tcase_add_test(cases, what_a_dry_queue_leaves_goes_to_the_others);
    tcase_add_test(cases, when_all_are_dry_nobody_is_asked_until_the_bell);
    tcase_add_test(cases, a_queue_that_was_dry_does_not_take_a_long_turn_alone);
    tcase_add_test(cases, limits_go_along_with_the_share);
    tcase_add_test(cases, the_later_of_two_exchanges_that_are_out_decides);
    tcase_add_test(cases, a_full_queue_is_asked_again_when_one_of_its_jobs_has_ended);
    tcase_add_test(cases, a_full_queue_is_asked_again_when_the_bell_rings);
    tcase_add_test(cases, a_limited_queue_is_asked_again_at_its_time_and_not_before);
    tcase_add_test(cases, the_first_of_several_limited_queues_is_woken_for);
    tcase_add_test(cases, a_queue_that_is_full_and_limited_waits_for_its_time);
    tcase_add_test(cases, a_queue_that_has_something_ready_is_not_dry);
    tcase_add_test(cases, a_queue_is_away_until_it_answers);
    tcase_add_test(cases, all_queues_are_away_when_none_answers);
    tcase_add_test(cases, a_queue_that_is_back_is_told_once);
    tcase_add_test(cases, the_store_is_away_when_all_of_its_queues_are);
    tcase_add_loop_test(cases, the_others_keep_their_proportion_while_one_is_limited, 0,
                        COUNT_OF(wake_ups));
    suite_add_tcase(suite, cases);
    return suite;
}
