/*
 * test_lease.c - tokens, expiry, and the order of the checks.
 */
#include "job/lease.h"

#include "../../vectors/lease.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct batch_token batch = {
    {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
     0xff},
};

static const struct {
    uint32_t index;
    const char *text;
} tokens[] = {
    {0, "00112233445566778899aabbccddeeff00000000"},
    {1, "00112233445566778899aabbccddeeff00000001"},
    {0x01020304, "00112233445566778899aabbccddeeff01020304"},
    {UINT32_MAX, "00112233445566778899aabbccddeeffffffffff"},
};

START_TEST(a_token_is_its_batch_and_then_its_index)
{
    struct lease_token token = lease_token_make(&batch, tokens[_i].index);
    char text[LEASE_TOKEN_TEXT_SIZE];

    memset(text, '#', sizeof text);
    ck_assert_uint_eq(lease_token_index(&token), tokens[_i].index);
    ck_assert_ptr_eq(lease_token_format(&token, text), text);
    ck_assert_str_eq(text, tokens[_i].text);
}
END_TEST

START_TEST(a_token_equals_itself)
{
    struct lease_token a = lease_token_make(&batch, 7), b = lease_token_make(&batch, 7);

    ck_assert(lease_token_equal(&a, &b));
}
END_TEST

START_TEST(tokens_of_one_reserve_have_one_batch)
{
    struct batch_token later = batch;
    struct lease_token first = lease_token_make(&batch, 0), last = lease_token_make(&batch, 999);
    struct lease_token other;

    later.bytes[0]++;
    other = lease_token_make(&later, 0);
    ck_assert_int_eq(lease_token_compare_batches(&first, &last), 0);
    ck_assert_int_lt(lease_token_compare_batches(&last, &other), 0);
    ck_assert_int_gt(lease_token_compare_batches(&other, &last), 0);
}
END_TEST

START_TEST(a_single_bit_makes_another_token)
{
    for (size_t bit = 0; bit < 8 * sizeof(struct lease_token); bit++) {
        struct lease_token a = lease_token_make(&batch, 7), b = a;

        b.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert_msg(!lease_token_equal(&a, &b), "bit %zu", bit);
    }
}
END_TEST

START_TEST(two_differences_do_not_cancel_out)
{
    struct lease_token a = lease_token_make(&batch, 7), b = a;

    b.bytes[0] ^= 1;
    b.bytes[19] ^= 1;
    ck_assert(!lease_token_equal(&a, &b));
}
END_TEST

START_TEST(a_lease_ends_at_its_expiry)
{
    ck_assert(!lease_has_expired(1000, 999));
    ck_assert(lease_has_expired(1000, 1000));
    ck_assert(lease_has_expired(1000, 1001));
}
END_TEST

/* All of state x time x token, with the answer by the order of P2 in store/driver.h. */
#define CHECKS (JOB_STATES * 3 * 2)

START_TEST(the_first_thing_that_is_wrong_is_reported)
{
    const enum job_state state = (enum job_state)(_i % JOB_STATES);
    const usec_t now = 999 + _i / JOB_STATES % 3;
    const bool ours = _i / (JOB_STATES * 3) == 0;
    struct lease_token held = lease_token_make(&batch, 1);
    struct lease_token given = lease_token_make(&batch, ours ? 1 : 2);

    enum th_error_code expected = TH_OK;
    if (!ours)
        expected = TH_E_LEASE_MISMATCH;
    if (now == 1000 || now == 1001)
        expected = TH_E_LEASE_EXPIRED;
    if (state != JOB_RUNNING)
        expected = TH_E_NOT_RUNNING;

    ck_assert_msg(lease_check(state, 1000, &held, &given, now) == expected,
                  "%s, now %d, %s token: expected code %d", job_state_name(state), (int)now,
                  ours ? "our" : "another", (int)expected);
}
END_TEST

/* What the stores are held to as well. */
START_TEST(a_lease_is_checked_as_its_row_says)
{
    const struct lease_vector *vector = &lease_vectors[_i];
    const struct lease_token held = lease_token_make(&batch, 1);
    const struct lease_token given = lease_token_make(&batch, vector->is_ours ? 1 : 2);

    ck_assert_msg(lease_check(vector->state, 1000, &held, &given, 1000 + vector->late) ==
                      vector->verdict,
                  "%s", vector->rule);
}
END_TEST

static const struct {
    const char *rule;
    usec_t heartbeat, lease, expected;
} renewals[] = {
    {"a short heartbeat is kept", 5 * USEC_PER_SEC, 30 * USEC_PER_SEC, 5 * USEC_PER_SEC},
    {"a third of the lease is the longest", 20 * USEC_PER_SEC, 30 * USEC_PER_SEC,
     10 * USEC_PER_SEC},
    {"both may be equal", 10 * USEC_PER_SEC, 30 * USEC_PER_SEC, 10 * USEC_PER_SEC},
    {"a third is rounded down", USEC_PER_SEC, 1000, 333},
};

START_TEST(a_lease_is_renewed_three_times_at_least)
{
    usec_t interval = lease_renewal_interval(renewals[_i].heartbeat, renewals[_i].lease);

    ck_assert_msg(interval == renewals[_i].expected, "%s, not %lld us", renewals[_i].rule,
                  (long long)interval);
}
END_TEST

/* With a lease of 60: stop_at is at 40 of it. */
static const struct {
    const char *rule;
    usec_t kill_grace, now, expected;
} graces[] = {
    {"it has kill_grace", 10, 40, 10},
    {"who notices late has less", 10, 45, 5},
    {"it ends a sixth before its lease", 10, 50, 0},
    {"after it, at once", 10, 70, 0},
    {"however short kill_grace is", 1, 49, 1},
    {"or none", 0, 40, 0},
};

START_TEST(an_unconfirmed_run_ends_before_its_lease)
{
    ck_assert_msg(lease_grace(40, 60, graces[_i].kill_grace, graces[_i].now) == graces[_i].expected,
                  "%s", graces[_i].rule);
}
END_TEST

START_TEST(what_is_asked_for_comes_long_before_its_lease_ends)
{
    ck_assert_int_eq(lease_deadline(60), 10);
}
END_TEST

START_TEST(a_run_is_given_up_a_third_of_its_lease_before_the_end)
{
    ck_assert_int_eq(lease_stop_at(160, 60), 140);
    ck_assert_int_eq(lease_ends_at(140, 60), 160);
    ck_assert_int_eq(lease_ends_at(lease_stop_at(100, 61), 61), 100);
}
END_TEST

START_TEST(what_comes_in_the_second_half_of_its_lease_is_late)
{
    const usec_t stop_at = lease_stop_at(60, 60);

    ck_assert(!lease_is_half_over(stop_at, 60, 0));
    ck_assert(!lease_is_half_over(stop_at, 60, 30));
    ck_assert(lease_is_half_over(stop_at, 60, 31));
}
END_TEST

/* Of one that began at 0: when it was looked at, and how long until the next look. */
static const struct {
    const char *rule;
    usec_t lease, age, interval;
    bool can_wait;
} waits[] = {
    {"one that has just begun waits", 30, 0, 5, true},
    {"until it is an interval old, where a lease has six of them", 30, 5, 5, true},
    {"older ones do not", 30, 6, 5, false},
    {"with a longer lease they wait for longer", 60, 15, 5, true},
    {"but not for ever", 60, 16, 5, false},
    {"where an interval is a third of the lease, none is left over", 15, 0, 5, true},
    {"so nothing that is older waits", 15, 1, 5, false},
    {"one that ends before it would be looked at does not", 4, 0, 5, false},
    {"nor one that has ended", 30, 40, 5, false},
};

START_TEST(a_lease_that_will_have_two_thirds_of_its_time_can_wait)
{
    const usec_t stop_at = lease_stop_at(waits[_i].lease, waits[_i].lease);

    ck_assert_msg(lease_can_wait(stop_at, waits[_i].lease, waits[_i].age + waits[_i].interval) ==
                      waits[_i].can_wait,
                  "%s", waits[_i].rule);
}
END_TEST

/* Whatever the settings are, and whenever it begins between two looks. */
START_TEST(a_lease_has_two_thirds_of_its_time_when_it_is_extended)
{
    const usec_t lease = _i;

    for (usec_t interval = 1; interval <= lease_renewal_interval(USEC_PER_DAY, lease); interval++) {
        for (usec_t look = 0; look < interval; look++) {
            usec_t age = look;

            while (lease_can_wait(lease_stop_at(lease, lease), lease, age + interval))
                age += interval;
            ck_assert_int_ge(lease - age, 2 * (lease / 3));
        }
    }
}
END_TEST

Suite *lease_suite(void)
{
    Suite *suite = suite_create("job/lease");
    TCase *token = pure_case("token");
    TCase *lease = pure_case("lease");

    tcase_add_loop_test(token, a_token_is_its_batch_and_then_its_index, 0, COUNT_OF(tokens));
    tcase_add_test(token, a_token_equals_itself);
    tcase_add_test(token, tokens_of_one_reserve_have_one_batch);
    tcase_add_test(token, a_single_bit_makes_another_token);
    tcase_add_test(token, two_differences_do_not_cancel_out);
    suite_add_tcase(suite, token);

    tcase_add_test(lease, a_lease_ends_at_its_expiry);
    tcase_add_loop_test(lease, the_first_thing_that_is_wrong_is_reported, 0, CHECKS);
    tcase_add_test(lease, a_run_is_given_up_a_third_of_its_lease_before_the_end);
    tcase_add_test(lease, what_comes_in_the_second_half_of_its_lease_is_late);
    tcase_add_loop_test(lease, a_lease_is_checked_as_its_row_says, 0, COUNT_OF(lease_vectors));
    tcase_add_loop_test(lease, a_lease_is_renewed_three_times_at_least, 0, COUNT_OF(renewals));
    tcase_add_loop_test(lease, a_lease_that_will_have_two_thirds_of_its_time_can_wait, 0,
                        COUNT_OF(waits));
    tcase_add_loop_test(lease, a_lease_has_two_thirds_of_its_time_when_it_is_extended, 3, 100);
    tcase_add_test(lease, what_is_asked_for_comes_long_before_its_lease_ends);
    tcase_add_loop_test(lease, an_unconfirmed_run_ends_before_its_lease, 0, COUNT_OF(graces));
    suite_add_tcase(suite, lease);
    return suite;
}
