/*
 * reclaim.h - leases that ran out.
 *
 * They are found by their expiry alone, whoever held them. queue.next_expiry says when there can
 * be one at the earliest; after a look at the leases it is exact again.
 */
#ifndef SQLITE_RECLAIM_H
#define SQLITE_RECLAIM_H

#include "base/base.h"
#include "store/sqlite/file/connection.h"

/* At most `limit` of one queue; inside the caller's transaction. */
bool sqlite_reclaim_queue(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                          size_t *moved_out, struct error *err) MUST_CHECK;

#endif
