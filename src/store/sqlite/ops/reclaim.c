/*
 * reclaim.c - leases that ran out.
 *
 * They are found by their expiry alone, whoever held them. queue.next_expiry says when there can
 * be one at the earliest; after a look at the leases it is exact again.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/leaving.h"

#include <stdlib.h>

#define RECLAIM_AT_ONCE 256

/* Ready again at its old place with one stall more; or cancelled, if that was asked for. */
static bool take_back(struct sqlite *sqlite, int64_t queue_id, int64_t seq, usec_t now,
                      struct error *err)
{
    struct standing standing;
    bool found;

    if (!standing_load(sqlite, seq, &standing, &found, err))
        return false;
    if (!found) /* a lease whose job was deleted by hand */
        return leaving_drop_lease(sqlite, seq, queue_id, err);
    struct job_run run = {
        .worker = standing.worker,
        .started_at = standing.started_at,
        .wall = now - standing.started_at,
        .outcome = RUN_STALLED,
        .exit_code = JOB_NO_EXIT_CODE,
    };
    if (!leaving_record_run(sqlite, &standing, &run, err))
        return false;
    standing.stalls++;
    if (standing.cancel_requested_at != 0) {
        struct ending ending = {.state = JOB_CANCELLED};
        return leaving_end(sqlite, &standing, &ending, now, err);
    }
    standing.run_at = 0;
    return leaving_return(sqlite, &standing, JOB_READY, now, err);
}

static bool find_expired(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                         int64_t *seqs_out, size_t *count_out, struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_EXPIRED_LEASES);

    *count_out = 0;
    query_int(&query, queue_id);
    query_int(&query, now);
    query_int(&query, (int64_t)limit);
    for (;;) {
        if (!query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        seqs_out[(*count_out)++] = column_int(&query);
    }
}

static bool recompute_expiry(struct sqlite *sqlite, int64_t queue_id, struct error *err)
{
    return query_on_seq(sqlite, SQL_QUEUE_RECOMPUTE_EXPIRY, queue_id, err);
}

bool reclaim_queue(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                   size_t *moved_out, struct error *err)
{
    int64_t seqs[RECLAIM_AT_ONCE];
    size_t found;

    *moved_out = 0;
    do {
        size_t left = limit - *moved_out;
        size_t wanted = left < RECLAIM_AT_ONCE ? left : RECLAIM_AT_ONCE;
        if (!find_expired(sqlite, queue_id, now, wanted, seqs, &found, err))
            return false;
        for (size_t i = 0; i < found; i++)
            if (!take_back(sqlite, queue_id, seqs[i], now, err))
                return false;
        *moved_out += found;
    } while (found == RECLAIM_AT_ONCE && *moved_out < limit);
    return recompute_expiry(sqlite, queue_id, err);
}

static bool next_expired_queue(struct sqlite *sqlite, usec_t now, int64_t *queue_id_out,
                               struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_EXPIRED_QUEUES);

    query_int(&query, now);
    if (!query_row(&query, &found, err))
        return false;
    *queue_id_out = found ? column_int(&query) : 0;
    return true;
}

/* Queue after queue until none is left whose leases may have run out, or the limit is reached. */
static bool reclaim_all(struct sqlite *sqlite, usec_t now, size_t limit, size_t *moved_out,
                        struct error *err)
{
    int64_t queue_id;
    size_t moved;

    while (*moved_out < limit) {
        if (!next_expired_queue(sqlite, now, &queue_id, err))
            return false;
        if (queue_id == 0)
            return true;
        if (!reclaim_queue(sqlite, queue_id, now, limit - *moved_out, &moved, err))
            return false;
        *moved_out += moved;
    }
    return true;
}

bool sqlite_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                    struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);
    int64_t queue_id;

    *moved_out = 0;
    /* A look first: a pass that finds nothing must not cost a write. */
    if (!next_expired_queue(sqlite, now, &queue_id, err))
        return false;
    if (queue_id == 0)
        return true;
    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, reclaim_all(sqlite, store_over_at(store, now), limit, moved_out, err),
                      err);
}
