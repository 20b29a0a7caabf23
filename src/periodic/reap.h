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

/* *next_out, on clock_boot(): when to make the next pass; now, if this one has left something. */
bool reap_pass(struct store *store, const struct config *config, usec_t *next_out,
               struct error *err) MUST_CHECK;

/* What the config says about ended jobs, as the store wants it. */
struct retention reap_retention(const struct retention_config *config);

#endif
