/*
 * reap.h - one pass of the reaper: expired leases, silent pools, retention.
 */
#ifndef PERIODIC_REAP_H
#define PERIODIC_REAP_H

#include "base/base.h"
#include "store/store.h"

struct config;
struct error;
struct retention_config;

/* What one pass knows of the one before. */
struct reap_rhythm {
    usec_t last_at;   /* on clock_boot(): its end; 0: there was none */
    usec_t pass_time; /* after this long a pass leaves the rest to the next one */
};

#define REAP_PASS_TIME (500 * USEC_PER_MSEC)

/* `pool` is ours, as the store knows it. *next_out, on clock_boot(): when to make the next pass;
 * now, if this one has left something. */
bool reap_pass(struct store *store, const struct config *config, const char *pool,
               struct reap_rhythm *rhythm, usec_t *next_out, struct error *err) MUST_CHECK;

/* How long to wait after a pass that removed this many, so that no more than a small share of
 * done_max ends meanwhile if jobs go on ending as fast; at most the interval. */
usec_t reap_pause(size_t pruned, usec_t since_last, size_t done_max, usec_t interval);

/* Whether this many ended jobs are worth an early pass. */
bool reap_is_wanted(int64_t ended, size_t done_max);

/* What the config says about ended jobs, as the store wants it. */
struct retention reap_retention(const struct retention_config *config);

#endif
