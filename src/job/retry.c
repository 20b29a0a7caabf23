/*
 * retry.c - how long a failed job waits.
 *
 * Invariants:
 *   - Without jitter a later attempt never waits less than an earlier one, unless a list says so.
 *   - No policy and no number of attempts overflows or makes a delay negative.
 */
#include "job/retry.h"

#include <assert.h>
#include <stdlib.h>

const struct retry_policy retry_policy_default = {
    .kind = RETRY_EXPONENTIAL,
    .base_delay = 10 * USEC_PER_SEC,
    .max_delay = USEC_PER_HOUR,
};

static usec_t not_negative(usec_t delay)
{
    return delay < 0 ? 0 : delay;
}

static usec_t doubled(usec_t base, int times, usec_t cap)
{
    if (base == 0)
        return 0;
    if (times > 62 || base > cap >> times)
        return cap;
    return base << times;
}

static usec_t multiplied(usec_t base, int factor, usec_t cap)
{
    return base > cap / factor ? cap : base * factor;
}

static usec_t listed(const struct retry_policy *policy, int attempts)
{
    assert(policy->delay_count > 0);
    size_t index = (size_t)attempts - 1;
    size_t last = policy->delay_count - 1;

    return not_negative(policy->delays[index < last ? index : last]);
}

static usec_t delay_without_jitter(const struct retry_policy *policy, int attempts, usec_t cap)
{
    usec_t base = not_negative(policy->base_delay);

    switch (policy->kind) {
    case RETRY_EXPONENTIAL:
        return doubled(base, attempts - 1, cap);
    case RETRY_LINEAR:
        return multiplied(base, attempts, cap);
    case RETRY_FIXED:
        return multiplied(base, 1, cap);
    case RETRY_LIST:
        return listed(policy, attempts);
    }
    abort(); /* a retry policy of no known kind */
}

/* Written so that NaN means no jitter. */
static double jitter_within_bounds(double jitter)
{
    if (!(jitter > 0))
        return 0;
    return jitter < 1 ? jitter : 1;
}

static usec_t spread(usec_t delay, double jitter, double unit, usec_t cap)
{
    double scaled = (double)delay * (1 - jitter + 2 * jitter * unit);

    return scaled >= (double)cap ? cap : (usec_t)scaled;
}

usec_t retry_delay(const struct retry_policy *policy, int attempts, double unit)
{
    assert(attempts >= 1);
    assert(unit >= 0 && unit < 1);

    usec_t cap = policy->kind == RETRY_LIST ? USEC_MAX : not_negative(policy->max_delay);
    usec_t delay = delay_without_jitter(policy, attempts, cap);
    double jitter = jitter_within_bounds(policy->jitter);

    /* A double holds 53 bits: without jitter the delay stays exact. */
    return jitter > 0 ? spread(delay, jitter, unit, cap) : delay;
}
