#include "job/rate.h"

#include "../../vectors/rate.h"
#include "suites.h"

#include <check.h>

#define NOW        ((usec_t)1893553445123456)
#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
#define BILLION    ((int64_t)1000000000)

static const struct units_rate per_second[] = {
    {1, SECONDS(1)}, {3, SECONDS(1)}, {100, SECONDS(1)}, {BILLION, SECONDS(1)}};
#define ONE      (&per_second[0])
#define THREE    (&per_second[1])
#define HUNDRED  (&per_second[2])
#define GREATEST (&per_second[3])

static const struct units_rate daily = {1, USEC_PER_DAY};
static const struct units_rate often_daily = {BILLION, USEC_PER_DAY};
static const struct units_rate minutely = {90, USEC_PER_MIN};

static const struct {
    const char *rule;
    const struct units_rate *rate;
    int64_t expected;
} bursts[] = {
    {"a second's worth", HUNDRED, 100},
    {"of one a second that is one", ONE, 1},
    {"the fastest rate there is", GREATEST, BILLION},
    {"a slow rate has one, or it would never start any", &daily, 1},
    {"whole jobs only: 90/m is 1.5/s", &minutely, 1},
    {"the period does not matter, only the speed", &often_daily, 11574},
};

static const struct {
    struct units_rate rate;
    bool valid;
} validities[] = {
    {{0, 0}, true},
    {{1, SECONDS(1)}, true},
    {{BILLION, USEC_PER_DAY}, true},
    {{-1, SECONDS(1)}, false},
    {{BILLION + 1, SECONDS(1)}, false},
    {{1, SECONDS(1) - 1}, false},
    {{1, USEC_PER_DAY + 1}, false},
};

START_TEST(a_rate_is_one_that_people_can_write)
{
    ck_assert(rate_is_valid(&validities[_i].rate) == validities[_i].valid);
}
END_TEST

START_TEST(the_burst_is_one_second_of_it)
{
    ck_assert_msg(rate_burst(bursts[_i].rate) == bursts[_i].expected, "%s", bursts[_i].rule);
    ck_assert_int_eq(rate_allows(bursts[_i].rate, 0, NOW), bursts[_i].expected);
}
END_TEST

START_TEST(what_is_allowed_follows_from_the_stored_time)
{
    const struct rate_vector *vector = &rate_vectors[_i];
    const usec_t spent_until = NOW + vector->ahead;
    const int64_t allowed = rate_allows(&vector->rate, spent_until, NOW);
    const usec_t wait = rate_next(&vector->rate, spent_until, NOW) - NOW;

    ck_assert_msg(allowed == vector->allowed, "%s, not %" PRId64, vector->rule, allowed);
    ck_assert_msg(wait == vector->wait, "%s, not in %" PRId64 " us", vector->rule, wait);
}
END_TEST

START_TEST(at_the_next_moment_one_may_start_and_before_it_none)
{
    const struct rate_vector *vector = &rate_vectors[_i];
    const usec_t spent_until = NOW + vector->ahead;
    const usec_t next = rate_next(&vector->rate, spent_until, NOW);

    ck_assert_int_ge(rate_allows(&vector->rate, spent_until, next), 1);
    if (next > NOW)
        ck_assert_int_eq(rate_allows(&vector->rate, spent_until, next - 1), 0);
}
END_TEST

START_TEST(what_is_started_is_paid_for)
{
    const struct rate_vector *vector = &rate_vectors[_i];
    const usec_t spent = rate_spend(&vector->rate, NOW + vector->ahead, NOW, vector->count) - NOW;

    ck_assert_msg(spent == vector->spent, "%s, not %" PRId64 " us", vector->rule, spent);
}
END_TEST

START_TEST(nothing_started_is_nothing_paid)
{
    ck_assert_int_eq(rate_spend(HUNDRED, NOW + 5000, NOW, 0), NOW + 5000);
}
END_TEST

/* What no store can be brought to. */
START_TEST(a_stored_time_that_is_nonsense_is_not_believed)
{
    ck_assert_int_eq(rate_allows(GREATEST, USEC_MAX, NOW), BILLION);
    ck_assert_int_eq(rate_next(GREATEST, USEC_MAX, NOW), NOW);
}
END_TEST

START_TEST(a_burst_of_the_fastest_is_a_second)
{
    ck_assert_int_eq(rate_spend(GREATEST, 0, NOW, BILLION), NOW + SECONDS(1));
}
END_TEST

#define STARTS 2000

static const struct {
    const struct units_rate *rate;
    usec_t pause_max; /* between two looks */
} greedies[] = {{THREE, 400000}, {HUNDRED, 7000},         {HUNDRED, 50000},
                {ONE, 700001},   {&minutely, SECONDS(1)}, {&daily, USEC_PER_DAY / 3}};

/* Looks again and again at odd moments, and starts some of what it may. */
static void start_greedily(const struct units_rate *rate, usec_t pause_max, usec_t at[STARTS])
{
    usec_t now = NOW, spent_until = 0;
    uint64_t random = 1;

    for (size_t started = 0; started < STARTS;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const int64_t allowed = rate_allows(rate, spent_until, now);
        int64_t taken = (random >> 60) == 0 ? allowed / 2 : allowed;

        spent_until = rate_spend(rate, spent_until, now, taken);
        while (taken-- > 0 && started < STARTS)
            at[started++] = now;
        now += (usec_t)((random >> 33) % (uint64_t)pause_max);
    }
}

/* How many stretches from this start on have too many. */
static size_t crowded_from(const struct units_rate *rate, const usec_t at[STARTS], size_t first)
{
    size_t crowded = 0;

    for (size_t last = first; last < STARTS; last++) {
        const usec_t stretch = at[last] - at[first] + 1; /* rounding */

        if ((int64_t)(last - first + 1) > rate_burst(rate) + stretch * rate->count / rate->period)
            crowded++;
    }
    return crowded;
}

START_TEST(in_no_stretch_more_start_than_the_rate_and_the_burst)
{
    static usec_t at[STARTS];
    size_t crowded = 0;

    start_greedily(greedies[_i].rate, greedies[_i].pause_max, at);
    for (size_t first = 0; first < STARTS; first++)
        crowded += crowded_from(greedies[_i].rate, at, first);
    ck_assert_uint_eq(crowded, 0);
}
END_TEST

START_TEST(whoever_takes_all_that_is_allowed_gets_the_rate)
{
    const struct units_rate *rate = greedies[_i].rate;
    usec_t now = NOW, spent_until = 0;

    for (int i = 0; i < STARTS; i++) {
        now = rate_next(rate, spent_until, now);
        spent_until = rate_spend(rate, spent_until, now, 1);
    }
    const usec_t even = (STARTS - rate_burst(rate)) * rate->period / rate->count;

    ck_assert_int_ge(now - NOW, even);
    ck_assert_int_le(now - NOW, even + STARTS); /* each is rounded to a microsecond */
}
END_TEST

Suite *rate_suite(void)
{
    Suite *suite = suite_create("job/rate");
    TCase *cases = pure_case("rate");

    tcase_add_loop_test(cases, a_rate_is_one_that_people_can_write, 0, COUNT_OF(validities));
    tcase_add_loop_test(cases, the_burst_is_one_second_of_it, 0, COUNT_OF(bursts));
    tcase_add_loop_test(cases, what_is_allowed_follows_from_the_stored_time, 0,
                        COUNT_OF(rate_vectors));
    tcase_add_loop_test(cases, at_the_next_moment_one_may_start_and_before_it_none, 0,
                        COUNT_OF(rate_vectors));
    tcase_add_loop_test(cases, what_is_started_is_paid_for, 0, COUNT_OF(rate_vectors));
    tcase_add_test(cases, nothing_started_is_nothing_paid);
    tcase_add_test(cases, a_stored_time_that_is_nonsense_is_not_believed);
    tcase_add_test(cases, a_burst_of_the_fastest_is_a_second);
    tcase_add_loop_test(cases, in_no_stretch_more_start_than_the_rate_and_the_burst, 0,
                        COUNT_OF(greedies));
    tcase_add_loop_test(cases, whoever_takes_all_that_is_allowed_gets_the_rate, 0,
                        COUNT_OF(greedies));
    suite_add_tcase(suite, cases);
    return suite;
}
