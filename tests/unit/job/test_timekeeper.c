/*
 * test_timekeeper.c - slow answers, and clocks that are set.
 */
#include "job/timekeeper.h"
#include "suites.h"

#include <check.h>

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
#define HOUR       SECONDS(3600)
#define LEASE      SECONDS(30)
#define OFFSET     SECONDS(1000000)

/* What an answer that took so long says at boot time `at`, half way. */
static void ask(struct timekeeper *keeper, usec_t at, usec_t took, usec_t offset)
{
    const struct timekeeper_sample sample = {at - took, at, at - took / 2 + offset};

    timekeeper_note(keeper, &sample);
}

/* As of ten seconds after the start of the machine. */
static struct timekeeper new_keeper(usec_t lease)
{
    struct timekeeper keeper = {.lease = lease};

    ask(&keeper, SECONDS(10), 100, OFFSET);
    return keeper;
}

static void assert_clock(const struct timekeeper *keeper, usec_t boot, usec_t now, usec_t lead)
{
    ck_assert_int_eq(timekeeper_now(keeper, boot), boot + now);
    ck_assert_int_eq(timekeeper_lead(keeper, boot), lead);
}

START_TEST(a_slow_answer_shifted_the_clock_by_half_of_it)
{
    struct timekeeper keeper = new_keeper(LEASE);
    /* It was written at once, and held up on its way to us. */
    const struct timekeeper_sample slow = {SECONDS(20), SECONDS(24), SECONDS(20) + OFFSET};

    timekeeper_note(&keeper, &slow);
    assert_clock(&keeper, SECONDS(25), OFFSET, 0);
    ck_assert_int_eq(keeper.asked_at, SECONDS(24));
}
END_TEST

START_TEST(a_slow_answer_still_tells_of_a_step)
{
    struct timekeeper keeper = new_keeper(0);

    ask(&keeper, SECONDS(24), SECONDS(4), OFFSET + HOUR);
    ck_assert_int_ge(timekeeper_now(&keeper, 0), OFFSET + HOUR - SECONDS(2));
    ask(&keeper, SECONDS(30), SECONDS(1), OFFSET + HOUR);
    assert_clock(&keeper, SECONDS(31), OFFSET + HOUR, 0);
}
END_TEST

START_TEST(a_first_answer_that_is_slow_is_made_good_by_the_next)
{
    struct timekeeper keeper = {.lease = LEASE};
    const struct timekeeper_sample slow = {SECONDS(20), SECONDS(24), SECONDS(20) + OFFSET};

    timekeeper_note(&keeper, &slow);
    ck_assert_int_eq(timekeeper_now(&keeper, 0), OFFSET - SECONDS(2));
    ask(&keeper, SECONDS(25), 100, OFFSET);
    assert_clock(&keeper, SECONDS(26), OFFSET, 0);
}
END_TEST

START_TEST(a_better_answer_does_not_turn_time_back)
{
    struct timekeeper keeper = {.lease = LEASE};
    /* It was held up on its way there: half of it is too much. */
    const struct timekeeper_sample slow = {SECONDS(20), SECONDS(24), SECONDS(24) + OFFSET};

    timekeeper_note(&keeper, &slow);
    ck_assert_int_eq(timekeeper_now(&keeper, SECONDS(25)), SECONDS(27) + OFFSET);
    ask(&keeper, SECONDS(25), 100, OFFSET);
    ck_assert_int_eq(timekeeper_now(&keeper, SECONDS(25)), SECONDS(27) + OFFSET);
    ck_assert_int_eq(timekeeper_now(&keeper, SECONDS(26)), SECONDS(27) + OFFSET);
    assert_clock(&keeper, SECONDS(27), OFFSET, 0);
    ck_assert_uint_eq(keeper.steps, 0);
}
END_TEST

START_TEST(a_clock_that_is_set_back_is_not_held)
{
    struct timekeeper keeper = {0};
    const struct timekeeper_sample slow = {SECONDS(20), SECONDS(24), SECONDS(24) + OFFSET};

    timekeeper_note(&keeper, &slow);
    ask(&keeper, SECONDS(25), 100, OFFSET);
    ask(&keeper, SECONDS(25), 100, OFFSET - HOUR);
    assert_clock(&keeper, SECONDS(25), OFFSET - HOUR, 0);
}
END_TEST

START_TEST(a_clock_that_drifts_is_followed)
{
    struct timekeeper keeper = new_keeper(LEASE);

    for (int i = 1; i <= 100; i++)
        ask(&keeper, SECONDS(10 + i), 200 + i, OFFSET + i * 1000);
    const usec_t error = timekeeper_now(&keeper, 0) - OFFSET - 100 * 1000;
    ck_assert_int_le(error < 0 ? -error : error, 300);
    ck_assert_uint_eq(keeper.steps, 0);
}
END_TEST

/* Whoever compares goes by the clock that is behind, whoever leases by the one that is ahead. */
START_TEST(both_clocks_hold_for_a_lease_after_a_step)
{
    const usec_t step = _i == 0 ? HOUR : -HOUR;
    struct timekeeper keeper = new_keeper(LEASE);

    ask(&keeper, SECONDS(20), 100, OFFSET + step);
    ck_assert_uint_eq(keeper.steps, 1);
    ck_assert_int_eq(keeper.last_step, step);
    assert_clock(&keeper, SECONDS(20), OFFSET + (step < 0 ? step : 0), HOUR);
    ask(&keeper, SECONDS(30), 100, OFFSET + step);
    assert_clock(&keeper, SECONDS(50) - 1, OFFSET + (step < 0 ? step : 0), HOUR);
    assert_clock(&keeper, SECONDS(50), OFFSET + step, 0);
    ck_assert_uint_eq(keeper.steps, 1);
}
END_TEST

START_TEST(a_step_that_is_taken_back_holds_for_a_lease_more)
{
    struct timekeeper keeper = new_keeper(LEASE);

    ask(&keeper, SECONDS(20), 100, OFFSET + HOUR);
    ask(&keeper, SECONDS(40), 100, OFFSET);
    ck_assert_uint_eq(keeper.steps, 2);
    assert_clock(&keeper, SECONDS(69), OFFSET, HOUR);
    assert_clock(&keeper, SECONDS(70), OFFSET, 0);
}
END_TEST

START_TEST(a_small_step_is_taken_as_it_is)
{
    struct timekeeper keeper = new_keeper(LEASE);

    ask(&keeper, SECONDS(20), 100, OFFSET + LEASE / 6);
    assert_clock(&keeper, SECONDS(20), OFFSET + LEASE / 6, 0);
    ck_assert_uint_eq(keeper.steps, 0);
}
END_TEST

START_TEST(who_holds_no_leases_goes_by_the_newest_clock)
{
    struct timekeeper keeper = new_keeper(0);

    ask(&keeper, SECONDS(20), 100, OFFSET - HOUR);
    assert_clock(&keeper, SECONDS(20), OFFSET - HOUR, 0);
}
END_TEST

/* What the table in the header promises, whenever each of two processes learns of the step. */
START_TEST(nobody_finds_a_lease_over_that_its_owner_holds)
{
    const usec_t steps[] = {HOUR, -HOUR, LEASE / 2, -LEASE / 2, LEASE * 2};
    const usec_t at = SECONDS(100);

    for (usec_t owner_seen = 0; owner_seen <= 10; owner_seen++)
        for (usec_t other_seen = 0; other_seen <= 10; other_seen++) {
            struct timekeeper owner = new_keeper(LEASE), other = new_keeper(LEASE);
            usec_t expires_at = 0;

            for (usec_t second = -40; second <= 80; second++) {
                const usec_t boot = at + SECONDS(second);

                if (second == owner_seen)
                    ask(&owner, boot, 0, OFFSET + steps[_i]);
                if (second == other_seen)
                    ask(&other, boot, 0, OFFSET + steps[_i]);
                if (second == owner_seen || second % 10 == 0)
                    expires_at =
                        timekeeper_now(&owner, boot) + timekeeper_lead(&owner, boot) + LEASE;
                ck_assert_int_lt(timekeeper_now(&other, boot), expires_at);
                ck_assert_int_lt(timekeeper_now(&owner, boot), expires_at);
            }
        }
}
END_TEST

Suite *timekeeper_suite(void)
{
    Suite *suite = suite_create("job/timekeeper");
    TCase *cases = pure_case("timekeeper");

    tcase_add_test(cases, a_slow_answer_shifted_the_clock_by_half_of_it);
    tcase_add_test(cases, a_slow_answer_still_tells_of_a_step);
    tcase_add_test(cases, a_first_answer_that_is_slow_is_made_good_by_the_next);
    tcase_add_test(cases, a_better_answer_does_not_turn_time_back);
    tcase_add_test(cases, a_clock_that_is_set_back_is_not_held);
    tcase_add_test(cases, a_clock_that_drifts_is_followed);
    tcase_add_loop_test(cases, both_clocks_hold_for_a_lease_after_a_step, 0, 2);
    tcase_add_test(cases, a_step_that_is_taken_back_holds_for_a_lease_more);
    tcase_add_test(cases, a_small_step_is_taken_as_it_is);
    tcase_add_test(cases, who_holds_no_leases_goes_by_the_newest_clock);
    tcase_add_loop_test(cases, nobody_finds_a_lease_over_that_its_owner_holds, 0, 5);
    suite_add_tcase(suite, cases);
    return suite;
}
