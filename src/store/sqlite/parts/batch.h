/*
 * batch.h - leases that are kept together: a row of `batch` (schema/004_batches.sql).
 *
 *     CLEANUP(sqlite_batch_done) struct sqlite_batch batch = {0};
 *     sqlite_batch_next()      a row with this token, and the next one
 *     sqlite_batch_index()     which of its leases a token names
 *     sqlite_batch_leave()     that one is over; sqlite_batch_unpack(): it has a row of its own now
 *     sqlite_batch_save()      writes what is left, or removes the row
 *
 * Reserve makes batches, and plain acks end their members together. Everything else that needs one
 * of these leases unpacks it first, and then finds all as if it had always been in `lease`.
 */
#ifndef SQLITE_BATCH_H
#define SQLITE_BATCH_H

#include "base/base.h"
#include "job/job.h"
#include "job/lease.h"
#include "store/sqlite/file/connection.h"

#define SQLITE_BATCH_NONE SIZE_MAX

struct sqlite_batch {
    int64_t seq; /* that the row is found by; 0: none was read yet */
    int64_t queue_id;
    struct batch_token token;
    uint32_t first; /* index that the first one's token has */
    usec_t expires_at, started_at;
    char pool[JOB_NAME_MAX + 1];
    int64_t *seqs; /* owned; by index, 0: is not in the batch, or not any more */
    size_t count, capacity;
    size_t open; /* how many are in it */
};

void sqlite_batch_done(struct sqlite_batch *batch);

/* Room for so many, all 0. */
bool sqlite_batch_make_room(struct sqlite_batch *batch, size_t count, struct error *err) MUST_CHECK;

/* A new row; seqs and open say of whom. */
bool sqlite_batch_add(struct sqlite *sqlite, const struct sqlite_batch *batch,
                      struct error *err) MUST_CHECK;

/* The row after the one it has, by seq, of those whose leases have tokens that begin like this. */
bool sqlite_batch_next(struct sqlite *sqlite, const struct lease_token *token,
                       struct sqlite_batch *batch, bool *found_out, struct error *err) MUST_CHECK;

/* Of a token that begins as the batch's; SQLITE_BATCH_NONE: that lease is not in it. */
size_t sqlite_batch_index(const struct sqlite_batch *batch, const struct lease_token *token);

void sqlite_batch_leave(struct sqlite_batch *batch, size_t index);
bool sqlite_batch_unpack(struct sqlite *sqlite, struct sqlite_batch *batch, size_t index,
                         struct error *err) MUST_CHECK;

bool sqlite_batch_save(struct sqlite *sqlite, const struct sqlite_batch *batch,
                       struct error *err) MUST_CHECK;

/* All that these tokens name, in whatever batches they are. The list is used up: each is set to
 * NULL. */
bool sqlite_batch_unpack_all(struct sqlite *sqlite, const struct lease_token **tokens, size_t count,
                             struct error *err) MUST_CHECK;

/* At most `limit` leases of the queue that are over by `now`. */
bool sqlite_batch_unpack_expired(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                                 struct error *err) MUST_CHECK;

#endif
