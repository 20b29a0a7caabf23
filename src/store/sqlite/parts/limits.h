/*
 * limits.h - how much of a share may be taken, by max_running and rate.
 *
 *     sqlite_limits_load()    what the queue has room for
 *     sqlite_limits_max()     how many to take at most
 *     sqlite_limits_apply()   pays for what was taken, and says what stood in the way of more
 *
 * All of it in the transaction of the reserve, so any number of pools keep the limits together. A
 * share without limits reads and writes nothing here.
 */
#ifndef SQLITE_LIMITS_H
#define SQLITE_LIMITS_H

#include "base/base.h"
#include "base/error.h"
#include "store/sqlite/file/connection.h"

struct sqlite_limits {
    const struct queue_share *share;
    int64_t queue_id;
    usec_t now;
    usec_t spent_until;  /* of the queue, for its rate */
    size_t running_room; /* SIZE_MAX: no limit */
    size_t rate_room;    /* SIZE_MAX: no limit */
};

/* `limits` has all but the rooms. */
bool sqlite_limits_load(struct sqlite *sqlite, struct sqlite_limits *limits,
                        struct error *err) MUST_CHECK;

size_t sqlite_limits_max(const struct sqlite_limits *limits);

/* limit_out may be NULL. */
bool sqlite_limits_apply(struct sqlite *sqlite, struct sqlite_limits *limits, size_t taken,
                         struct share_limit *limit_out, struct error *err) MUST_CHECK;

#endif
