/*
 * rate.c - GCRA in whole microseconds.
 *
 * `ahead` is how far spent_until is ahead of now: what is still to be paid. It is believed up to
 * one interval or one second, whichever is longer, and a count is at most a billion (units.h): so
 * all products below fit into 52 bits.
 */
#include "job/rate.h"

#include <assert.h>

/* How far pools may disagree about the time. */
#define DOUBT USEC_PER_SEC

#define COUNT_MAX 1000000000

static int64_t divide_up(int64_t dividend, int64_t divisor)
{
    return dividend / divisor + (dividend % divisor != 0);
}

/* What this many starts cost, rounded up: never more are started than the rate says. */
static usec_t cost_of(const struct units_rate *rate, int64_t starts)
{
    return divide_up(starts * rate->period, rate->count);
}

/* What rounding up may have made too much of spent_until, which must not cost a whole start. */
static usec_t excess(const struct units_rate *rate)
{
    return rate->period % rate->count != 0;
}

static usec_t ahead_of(const struct units_rate *rate, usec_t spent_until, usec_t now)
{
    const usec_t believable = cost_of(rate, rate_burst(rate)) + DOUBT;

    if (spent_until <= now || spent_until - now > believable)
        return 0;
    return spent_until - now;
}

bool rate_is_valid(const struct units_rate *rate)
{
    return rate->count == 0 || (rate->count > 0 && rate->count <= COUNT_MAX &&
                                rate->period >= USEC_PER_SEC && rate->period <= USEC_PER_DAY);
}

int64_t rate_burst(const struct units_rate *rate)
{
    assert(rate->count > 0 && rate_is_valid(rate));
    const int64_t burst = rate->count * USEC_PER_SEC / rate->period;

    return burst > 0 ? burst : 1;
}

int64_t rate_allows(const struct units_rate *rate, usec_t spent_until, usec_t now)
{
    const usec_t ahead = ahead_of(rate, spent_until, now);
    const int64_t burst = rate_burst(rate);

    if (ahead == 0)
        return burst;
    const int64_t spent = divide_up((ahead - excess(rate)) * rate->count, rate->period);

    return spent < burst ? burst - spent : 0;
}

usec_t rate_spend(const struct units_rate *rate, usec_t spent_until, usec_t now, int64_t count)
{
    assert(count >= 0 && count <= rate_allows(rate, spent_until, now));
    return now + ahead_of(rate, spent_until, now) + cost_of(rate, count);
}

usec_t rate_next(const struct units_rate *rate, usec_t spent_until, usec_t now)
{
    const usec_t ahead = ahead_of(rate, spent_until, now);
    const usec_t free = (rate_burst(rate) - 1) * rate->period / rate->count + excess(rate);

    return ahead > free ? now + ahead - free : now;
}
