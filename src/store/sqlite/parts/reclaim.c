/*
 * reclaim.c - takes back what ran out, a few leases at a time.
 */
#include "store/sqlite/parts/reclaim.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/parts/batch.h"
#include "store/sqlite/parts/leaving.h"

#include <stdlib.h>

#define RECLAIM_AT_ONCE 256

/* Ready again at its old place with one stall more; or cancelled, if that was asked for. */
static bool take_back(struct sqlite *sqlite, int64_t queue_id, int64_t seq, usec_t now,
                      struct error *err)
{
    struct sqlite_standing standing;
    bool found;

    if (!sqlite_standing_load(sqlite, seq, &standing, &found, err))
        return false;
    if (!found) /* a lease whose job was deleted by hand */
        return sqlite_leaving_drop_lease(sqlite, seq, queue_id, err);
    struct job_run run = {
        .worker = standing.worker,
        .started_at = standing.started_at,
        .wall = now - standing.started_at,
        .outcome = RUN_STALLED,
        .exit_code = JOB_NO_EXIT_CODE,
    };
    if (!sqlite_leaving_record_run(sqlite, &standing, &run, err))
        return false;
    standing.stalls++;
    if (standing.cancel_requested_at != 0) {
        struct sqlite_ending ending = {.state = JOB_CANCELLED};
        return sqlite_leaving_end(sqlite, &standing, &ending, now, err);
    }
    standing.run_at = 0;
    return sqlite_leaving_return(sqlite, &standing, JOB_READY, now, err);
}

static bool find_expired(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                         int64_t *seqs_out, size_t *count_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_EXPIRED_LEASES);

    *count_out = 0;
    sqlite_query_int(&query, queue_id);
    sqlite_query_int(&query, now);
    sqlite_query_int(&query, (int64_t)limit);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        seqs_out[(*count_out)++] = sqlite_row_int(&query);
    }
}

static bool recompute_expiry(struct sqlite *sqlite, int64_t queue_id, struct error *err)
{
    return sqlite_query_on_seq(sqlite, SQL_QUEUE_RECOMPUTE_EXPIRY, queue_id, err);
}

bool sqlite_reclaim_queue(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                          size_t *moved_out, struct error *err)
{
    int64_t seqs[RECLAIM_AT_ONCE];
    size_t found;

    *moved_out = 0;
    do {
        size_t left = limit - *moved_out;
        size_t wanted = left < RECLAIM_AT_ONCE ? left : RECLAIM_AT_ONCE;
        if (!sqlite_batch_unpack_expired(sqlite, queue_id, now, wanted, err) ||
            !find_expired(sqlite, queue_id, now, wanted, seqs, &found, err))
            return false;
        for (size_t i = 0; i < found; i++)
            if (!take_back(sqlite, queue_id, seqs[i], now, err))
                return false;
        *moved_out += found;
    } while (found == RECLAIM_AT_ONCE && *moved_out < limit);
    return recompute_expiry(sqlite, queue_id, err);
}
