/*
 * test_outage.c - how often a lost store is tried, and what is said about it.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/listener.h"
#include "base/log.h"
#include "process/outage.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static struct outage outage;
static struct error lost = {.code = TH_E_UNAVAILABLE, .text = "sqlite: disk is full"};

static void setup(void)
{
    const struct log_options options = {.level = LEVEL_INFO};

    listener_open();
    log_open(&options);
}

static void teardown(void)
{
    log_close(0);
    listener_close();
}

/* By how much the next attempt is away, at least and at most. */
static void note(usec_t *least_out, usec_t *most_out)
{
    const usec_t before = clock_boot();
    const usec_t at = outage_note(&outage, &lost);

    *least_out = at - clock_boot();
    *most_out = at - before;
}

START_TEST(the_delay_doubles_up_to_five_seconds)
{
    static const int expected_ms[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000};

    for (size_t i = 0; i < COUNT_OF(expected_ms); i++) {
        const usec_t expected = expected_ms[i] * USEC_PER_MSEC;
        usec_t least, most;

        note(&least, &most);
        ck_assert_int_le(least, expected * 12 / 10);
        ck_assert_int_ge(most, expected * 8 / 10);
    }
}
END_TEST

START_TEST(two_pools_do_not_come_back_in_the_same_moment)
{
    usec_t shortest = USEC_MAX, longest = 0;

    for (int i = 0; i < 1000; i++) {
        usec_t least, most;

        outage = (struct outage){.since = 1, .delay = 5 * USEC_PER_SEC};
        note(&least, &most);
        shortest = most < shortest ? most : shortest;
        longest = least > longest ? least : longest;
    }
    ck_assert_int_lt(shortest, 4300 * USEC_PER_MSEC);
    ck_assert_int_gt(longest, 5700 * USEC_PER_MSEC);
}
END_TEST

START_TEST(it_is_said_once_that_the_store_is_lost_and_once_that_it_is_back)
{
    long long retry_ms = 0, away_ms = -1;

    outage_note(&outage, &lost);
    outage_note(&outage, &lost);
    outage_end(&outage);
    outage_end(&outage);
    ck_assert_int_eq(sscanf(listener_hear(),
                            "%*s level=error event=store_lost error=\"sqlite: disk is full\" "
                            "retry_ms=%lld\n%*s level=info event=store_back away_ms=%lld\n",
                            &retry_ms, &away_ms),
                     2);
    ck_assert(retry_ms >= 80 && retry_ms <= 120);
    ck_assert_int_ge(away_ms, 0);
    ck_assert_ptr_eq(strchr(strchr(listener_hear(), '\n') + 1, '\n'),
                     listener_hear() + listener_length() - 1);
}
END_TEST

START_TEST(the_next_outage_begins_anew)
{
    usec_t least, most;

    for (int i = 0; i < 10; i++)
        outage_note(&outage, &lost);
    outage_end(&outage);
    ck_assert_int_eq(outage.since, 0);
    note(&least, &most);
    ck_assert_int_le(least, 120 * USEC_PER_MSEC);
    ck_assert_int_ne(outage.since, 0);
}
END_TEST

START_TEST(only_a_store_that_is_away_or_did_not_answer_may_come_back)
{
    for (int code = TH_OK; code <= TH_E_INTERNAL; code++) {
        const struct error err = {.code = (enum th_error_code)code};

        ck_assert_msg(outage_may_pass(&err) == (code == TH_E_UNAVAILABLE || code == TH_E_UNCERTAIN),
                      "%s", error_code_name(err.code));
    }
}
END_TEST

Suite *outage_suite(void)
{
    Suite *suite = suite_create("process/outage");
    TCase *attempts = tcase_create("attempts");

    tcase_add_checked_fixture(attempts, setup, teardown);
    tcase_add_test(attempts, the_delay_doubles_up_to_five_seconds);
    tcase_add_test(attempts, two_pools_do_not_come_back_in_the_same_moment);
    tcase_add_test(attempts, it_is_said_once_that_the_store_is_lost_and_once_that_it_is_back);
    tcase_add_test(attempts, the_next_outage_begins_anew);
    tcase_add_test(attempts, only_a_store_that_is_away_or_did_not_answer_may_come_back);
    suite_add_tcase(suite, attempts);
    return suite;
}
