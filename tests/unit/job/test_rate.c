#include "job/rate.h"
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

/* What may be started when spent_until is so far ahead of now, and when the next one may. */
static const struct {
    const char *rule;
    const struct units_rate *rate;
    usec_t ahead;
    int64_t allowed;
    usec_t wait;
} moments[] = {
    {"what is paid for counts no more", HUNDRED, 0, 100, 0},
    {"however long ago it was", HUNDRED, -USEC_PER_DAY * 365, 100, 0},
    {"one of them is spent", HUNDRED, 10000, 99, 0},
    {"a part of one is one", HUNDRED, 1, 99, 0},
    {"one is left", HUNDRED, 990000, 1, 0},
    {"the next one is not paid for yet", HUNDRED, 990001, 0, 1},
    {"all are spent", HUNDRED, SECONDS(1), 0, 10000},
    {"an interval that is no whole number costs no start", THREE, 333334, 2, 0},
    {"nor do two of them", THREE, 666667, 1, 0},
    {"nor three", THREE, SECONDS(1), 0, 333333},
    {"once a day", &daily, USEC_PER_DAY, 0, USEC_PER_DAY},
    {"and not a microsecond sooner", &daily, 1, 0, 1},
    {"pools that disagree a little wait a little", HUNDRED, SECONDS(2), 0, 1010000},
    {"the clock went back, or the rate was slower: it starts anew", HUNDRED, SECONDS(2) + 1, 100,
     0},
    {"also by a year", &daily, USEC_PER_DAY * 365, 1, 0},
    {"also when the stored time is nonsense", GREATEST, USEC_MAX - NOW, BILLION, 0},
    {"the fastest rate counts microseconds", GREATEST, SECONDS(1), 1000, 0},
};

START_TEST(what_is_allowed_follows_from_the_stored_time)
{
    const struct units_rate *rate = moments[_i].rate;
    const usec_t spent_until = NOW + moments[_i].ahead;
    const int64_t allowed = rate_allows(rate, spent_until, NOW);
    const usec_t wait = rate_next(rate, spent_until, NOW) - NOW;

    ck_assert_msg(allowed == moments[_i].allowed, "%s, not %" PRId64, moments[_i].rule, allowed);
    ck_assert_msg(wait == moments[_i].wait, "%s, not in %" PRId64 " us", moments[_i].rule, wait);
}
END_TEST

START_TEST(at_the_next_moment_one_may_start_and_before_it_none)
{
    const struct units_rate *rate = moments[_i].rate;
    const usec_t spent_until = NOW + moments[_i].ahead;
    const usec_t next = rate_next(rate, spent_until, NOW);

    ck_assert_int_ge(rate_allows(rate, spent_until, next), 1);
    if (next > NOW)
        ck_assert_int_eq(rate_allows(rate, spent_until, next - 1), 0);
}
END_TEST

static const struct {
    const char *rule;
    const struct units_rate *rate;
    usec_t ahead;
    int64_t count;
    usec_t expected; /* ahead */
} spendings[] = {
    {"each costs an interval", HUNDRED, 0, 1, 10000},
    {"from what is spent already", HUNDRED, 10000, 2, 30000},
    {"a rest is not saved up", HUNDRED, -USEC_PER_DAY, 1, 10000},
    {"nothing started, nothing paid", HUNDRED, 5000, 0, 5000},
    {"rounded up once, however many they are", THREE, 0, 2, 666667},
    {"a burst of the fastest", GREATEST, 0, BILLION, SECONDS(1)},
    {"one of the fastest", GREATEST, 0, 1, 1},
    {"one a day", &daily, 0, 1, USEC_PER_DAY},
    {"what was not believed is forgotten", HUNDRED, USEC_PER_DAY, 1, 10000},
};

START_TEST(what_is_started_is_paid_for)
{
    const usec_t spent_until =
        rate_spend(spendings[_i].rate, NOW + spendings[_i].ahead, NOW, spendings[_i].count);

    ck_assert_msg(spent_until - NOW == spendings[_i].expected, "%s, not %" PRId64 " us",
                  spendings[_i].rule, spent_until - NOW);
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
    tcase_add_loop_test(cases, what_is_allowed_follows_from_the_stored_time, 0, COUNT_OF(moments));
    tcase_add_loop_test(cases, at_the_next_moment_one_may_start_and_before_it_none, 0,
                        COUNT_OF(moments));
    tcase_add_loop_test(cases, what_is_started_is_paid_for, 0, COUNT_OF(spendings));
    tcase_add_loop_test(cases, in_no_stretch_more_start_than_the_rate_and_the_burst, 0,
                        COUNT_OF(greedies));
    tcase_add_loop_test(cases, whoever_takes_all_that_is_allowed_gets_the_rate, 0,
                        COUNT_OF(greedies));
    suite_add_tcase(suite, cases);
    return suite;
}
