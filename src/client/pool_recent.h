/*
 * pool_recent.h - what ran in a pool lately, as its status tells it: periodic/recent.h shows it.
 *
 * As with all of a status, nothing is refused: what is not there, or not of the kind expected, is
 * absent.
 */
#ifndef CLIENT_POOL_RECENT_H
#define CLIENT_POOL_RECENT_H

#include "base/base.h"
#include "base/log_histogram.h"

struct arena;
struct pool_status;

struct pool_recent_type {
    const char *type;
    uint64_t done, failed;
    struct log_histogram run, wait;
};

struct pool_recent {
    usec_t since; /* 0: nothing ran */
    struct pool_recent_type *types;
    size_t count;
};

/* It lives in the arena; out of memory shows there. */
struct pool_recent pool_recent_read(const struct pool_status *status, struct arena *arena);

#endif
