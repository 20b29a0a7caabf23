/*
 * retry.h - how long a failed job waits.
 */
#ifndef JOB_RETRY_H
#define JOB_RETRY_H

#include "base/base.h"

enum retry_kind {
    RETRY_EXPONENTIAL, /* base, 2 base, 4 base, ... */
    RETRY_LINEAR,      /* base, 2 base, 3 base, ... */
    RETRY_FIXED,       /* base, base, base, ... */
    RETRY_LIST,        /* the delays listed; the last one repeats */
};

struct retry_policy {
    enum retry_kind kind;
    usec_t base_delay;
    usec_t max_delay;
    double jitter;        /* 0 to 1: the delay is multiplied by uniform(1 - jitter, 1 + jitter) */
    const usec_t *delays; /* RETRY_LIST */
    size_t delay_count;
};

extern const struct retry_policy retry_policy_default; /* exponential, 10s, 1h, 0 */

/* After the failure that made `attempts` what it is (1 = the first). `unit` is uniform in [0, 1).
 * Capped at max_delay before and after the jitter, except for a list, which is taken as written.
 * Never negative, never overflows. */
usec_t retry_delay(const struct retry_policy *policy, int attempts, double unit);

#endif
