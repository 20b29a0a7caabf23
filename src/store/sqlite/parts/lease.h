/*
 * lease.h - a job's own row in `lease`.
 */
#ifndef SQLITE_LEASE_H
#define SQLITE_LEASE_H

#include "base/base.h"
#include "job/lease.h"
#include "store/sqlite/file/connection.h"

struct sqlite_lease {
    int64_t seq;
    int64_t queue_id;
    int64_t execution;
    struct lease_token token;
    usec_t expires_at, started_at;
    const char *pool;
    bool traces; /* whether there is a key, or a row in detail or run */
};

bool sqlite_lease_add(struct sqlite *sqlite, const struct sqlite_lease *lease,
                      struct error *err) MUST_CHECK;

#endif
