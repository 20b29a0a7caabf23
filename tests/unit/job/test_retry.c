/*
 * test_retry.c - the delays of every policy, with and without jitter.
 */
#include "job/retry.h"
#include "suites.h"

#include <check.h>
#include <limits.h>
#include <math.h>
#include <signal.h>

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
#define ALMOST_ONE 0x1.fffffffffffffp-1 /* the largest double below 1 */

static const usec_t list[] = {SECONDS(1), SECONDS(5), SECONDS(60)};
static const usec_t descending[] = {SECONDS(60), SECONDS(1)};
static const usec_t endless[] = {USEC_MAX};
static const usec_t backwards[] = {-5};

#define POLICY(retry_kind, base, max)                                                              \
    {                                                                                              \
        .kind = (retry_kind), .base_delay = (base), .max_delay = (max)                             \
    }
#define LIST(list_of, max)                                                                         \
    {                                                                                              \
        .kind = RETRY_LIST, .max_delay = (max), .delays = (list_of),                               \
        .delay_count = COUNT_OF(list_of)                                                           \
    }
#define BEYOND_A_DOUBLE (((usec_t)1 << 60) + 1)

/* clang-format off */
static const struct retry_policy
    exponential   = POLICY(RETRY_EXPONENTIAL, SECONDS(10),     SECONDS(3600)),
    linear        = POLICY(RETRY_LINEAR,      SECONDS(10),     SECONDS(3600)),
    fixed         = POLICY(RETRY_FIXED,       SECONDS(10),     SECONDS(3600)),
    fixed_over    = POLICY(RETRY_FIXED,       SECONDS(10),     SECONDS(3)),
    at_once       = POLICY(RETRY_EXPONENTIAL, 0,               SECONDS(3600)),
    no_wait       = POLICY(RETRY_EXPONENTIAL, SECONDS(10),     0),
    uncapped      = POLICY(RETRY_EXPONENTIAL, 1,               USEC_MAX),
    huge          = POLICY(RETRY_EXPONENTIAL, USEC_MAX,        USEC_MAX),
    huge_linear   = POLICY(RETRY_LINEAR,      USEC_MAX / 2,    USEC_MAX),
    odd           = POLICY(RETRY_FIXED,       BEYOND_A_DOUBLE, USEC_MAX),
    negative      = POLICY(RETRY_EXPONENTIAL, -SECONDS(10),    SECONDS(3600)),
    negative_cap  = POLICY(RETRY_LINEAR,      SECONDS(10),     -SECONDS(1)),
    listed        = LIST(list, SECONDS(2)),
    falling       = LIST(descending, 0),
    negative_list = LIST(backwards, 0);

static const struct {
    const char *rule;
    const struct retry_policy *policy;
    int attempts;
    usec_t expected;
} delays[] = {
    {"the first failure waits base_delay", &exponential, 1, SECONDS(10)},
    {"the second twice as long", &exponential, 2, SECONDS(20)},
    {"each further one waits twice as long again", &exponential, 3, SECONDS(40)},
    {"the last below the cap is exact", &exponential, 9, SECONDS(2560)},
    {"but no longer than max_delay", &exponential, 10, SECONDS(3600)},
    {"also when doubling would overflow", &exponential, 64, SECONDS(3600)},
    {"however many there were", &exponential, 1000000, SECONDS(3600)},
    {"however many an int can count", &exponential, INT_MAX, SECONDS(3600)},
    {"the default policy is this one", &retry_policy_default, 3, SECONDS(40)},
    {"with this cap", &retry_policy_default, INT_MAX, SECONDS(3600)},
    {"nothing doubled is nothing", &at_once, INT_MAX, 0},
    {"a cap of nothing is no wait", &no_wait, 1, 0},
    {"62 doublings fit a usec_t", &uncapped, 63, (usec_t)1 << 62},
    {"63 do not", &uncapped, 64, USEC_MAX},
    {"the largest delay doubles to itself", &huge, 2, USEC_MAX},
    {"linear waits base_delay first", &linear, 1, SECONDS(10)},
    {"linear adds base_delay each time", &linear, 3, SECONDS(30)},
    {"linear reaches max_delay", &linear, 360, SECONDS(3600)},
    {"and stays there", &linear, 361, SECONDS(3600)},
    {"linear does not overflow", &linear, INT_MAX, SECONDS(3600)},
    {"also near the end of usec_t", &huge_linear, 3, USEC_MAX},
    {"fixed waits the same each time", &fixed, 1, SECONDS(10)},
    {"fixed never grows", &fixed, INT_MAX, SECONDS(10)},
    {"fixed is capped, too", &fixed_over, 1, SECONDS(3)},
    {"what a double cannot hold stays exact without jitter", &odd, 1, BEYOND_A_DOUBLE},
    {"a list gives its first", &listed, 1, SECONDS(1)},
    {"then its second, whatever max_delay is", &listed, 2, SECONDS(5)},
    {"then its third", &listed, 3, SECONDS(60)},
    {"and the last one repeats", &listed, 4, SECONDS(60)},
    {"for ever", &listed, INT_MAX, SECONDS(60)},
    {"a list may fall", &falling, 2, SECONDS(1)},
    {"no base_delay makes a delay negative", &negative, 3, 0},
    {"no max_delay does", &negative_cap, 3, 0},
    {"no list does", &negative_list, 1, 0},
};
/* clang-format on */

START_TEST(delay_follows_the_policy)
{
    usec_t delay = retry_delay(delays[_i].policy, delays[_i].attempts, 0.5);

    ck_assert_msg(delay == delays[_i].expected, "%s, not %lld us", delays[_i].rule,
                  (long long)delay);
}
END_TEST

static const struct retry_policy *const growing[] = {&exponential, &linear, &fixed,      &uncapped,
                                                     &listed,      &odd,    &huge_linear};

START_TEST(a_later_failure_never_waits_less)
{
    usec_t before = 0;

    for (int attempts = 1; attempts < 1000; attempts++) {
        usec_t delay = retry_delay(growing[_i], attempts, 0);
        ck_assert_int_ge(delay, before);
        before = delay;
    }
}
END_TEST

START_TEST(without_jitter_chance_changes_nothing)
{
    for (int attempts = 1; attempts < 100; attempts++)
        ck_assert_int_eq(retry_delay(growing[_i], attempts, 0),
                         retry_delay(growing[_i], attempts, ALMOST_ONE));
}
END_TEST

/* The base is fixed, 100 s under a cap of 150 s. */
static const struct {
    const char *rule;
    double jitter, unit;
    usec_t expected;
} jitters[] = {
    {"the luckiest waits 1 - jitter", 0.25, 0, SECONDS(75)},
    {"the average waits the delay itself", 0.25, 0.5, SECONDS(100)},
    {"three quarters of the way", 0.25, 0.75, 112500000},
    {"the unluckiest waits almost 1 + jitter", 0.25, ALMOST_ONE, SECONDS(125) - 1},
    {"full jitter may not wait at all", 1, 0, 0},
    {"jitter does not pass the cap", 1, 0.9, SECONDS(150)},
    {"more than all is all", 7, 0, 0},
    {"less than nothing is nothing", -1, 0, SECONDS(100)},
    {"what is no number is nothing", NAN, 0, SECONDS(100)},
    {"what is endless is all", INFINITY, 0, 0},
};

START_TEST(jitter_spreads_around_the_delay)
{
    struct retry_policy policy = {RETRY_FIXED,        SECONDS(100), SECONDS(150),
                                  jitters[_i].jitter, NULL,         0};
    usec_t delay = retry_delay(&policy, 1, jitters[_i].unit);

    /* The last microsecond is rounding's. */
    ck_assert_msg(delay >= jitters[_i].expected - 1 && delay <= jitters[_i].expected + 1,
                  "%s, not %lld us", jitters[_i].rule, (long long)delay);
}
END_TEST

START_TEST(jitter_stays_within_its_bounds)
{
    struct retry_policy policy = exponential;

    policy.jitter = 0.3;
    for (int attempts = 1; attempts <= 12; attempts++) {
        const usec_t middle = retry_delay(&exponential, attempts, 0);
        for (int step = 0; step < 100; step++) {
            const usec_t delay = retry_delay(&policy, attempts, step / 100.0);
            ck_assert_int_ge(delay, middle / 10 * 7 - 1);
            ck_assert_int_le(delay, middle / 10 * 13 + 1);
            ck_assert_int_le(delay, policy.max_delay);
        }
    }
}
END_TEST

START_TEST(the_same_chance_gives_the_same_delay)
{
    struct retry_policy policy = exponential;

    policy.jitter = 0.5;
    ck_assert_int_eq(retry_delay(&policy, 3, 0.123), retry_delay(&policy, 3, 0.123));
    ck_assert_int_ne(retry_delay(&policy, 3, 0.123), retry_delay(&policy, 3, 0.321));
}
END_TEST

START_TEST(a_list_has_jitter_too)
{
    struct retry_policy policy = listed;

    policy.jitter = 0.5;
    ck_assert_int_eq(retry_delay(&policy, 3, 0), SECONDS(30));
    ck_assert_int_eq(retry_delay(&policy, 3, 0.75), SECONDS(75));
}
END_TEST

START_TEST(jitter_does_not_overflow)
{
    struct retry_policy policy = {RETRY_LIST, 0, 0, 1, endless, COUNT_OF(endless)};

    ck_assert_int_eq(retry_delay(&policy, 1, ALMOST_ONE), USEC_MAX);
    ck_assert_int_eq(retry_delay(&policy, 1, 0.5), USEC_MAX);
    policy.kind = RETRY_EXPONENTIAL;
    policy.base_delay = policy.max_delay = USEC_MAX;
    ck_assert_int_eq(retry_delay(&policy, INT_MAX, ALMOST_ONE), USEC_MAX);
}
END_TEST

START_TEST(the_default_has_no_jitter)
{
    ck_assert_int_eq((int)retry_policy_default.kind, RETRY_EXPONENTIAL);
    ck_assert_int_eq(retry_policy_default.base_delay, SECONDS(10));
    ck_assert_int_eq(retry_policy_default.max_delay, SECONDS(3600));
    ck_assert_double_eq(retry_policy_default.jitter, 0);
}
END_TEST

START_TEST(attempts_count_from_one)
{
    retry_delay(&fixed, 0, 0);
}
END_TEST

START_TEST(chance_is_below_one)
{
    retry_delay(&fixed, 1, 1);
}
END_TEST

START_TEST(chance_is_not_negative)
{
    retry_delay(&fixed, 1, -0.1);
}
END_TEST

START_TEST(a_list_is_not_empty)
{
    struct retry_policy empty = listed;

    empty.delay_count = 0;
    retry_delay(&empty, 1, 0);
}
END_TEST

Suite *retry_suite(void)
{
    Suite *suite = suite_create("job/retry");
    TCase *delay = pure_case("delay");
    TCase *jitter = pure_case("jitter");
    TCase *bugs = tcase_create("bugs");

    tcase_add_loop_test(delay, delay_follows_the_policy, 0, COUNT_OF(delays));
    tcase_add_loop_test(delay, a_later_failure_never_waits_less, 0, COUNT_OF(growing));
    tcase_add_test(delay, the_default_has_no_jitter);
    tcase_add_test_raise_signal(bugs, attempts_count_from_one, SIGABRT);
    tcase_add_test_raise_signal(bugs, a_list_is_not_empty, SIGABRT);
    suite_add_tcase(suite, delay);

    tcase_add_loop_test(jitter, without_jitter_chance_changes_nothing, 0, COUNT_OF(growing));
    tcase_add_loop_test(jitter, jitter_spreads_around_the_delay, 0, COUNT_OF(jitters));
    tcase_add_test(jitter, jitter_stays_within_its_bounds);
    tcase_add_test(jitter, the_same_chance_gives_the_same_delay);
    tcase_add_test(jitter, a_list_has_jitter_too);
    tcase_add_test(jitter, jitter_does_not_overflow);
    tcase_add_test_raise_signal(bugs, chance_is_below_one, SIGABRT);
    tcase_add_test_raise_signal(bugs, chance_is_not_negative, SIGABRT);
    suite_add_tcase(suite, jitter);
    suite_add_tcase(suite, bugs);
    return suite;
}
