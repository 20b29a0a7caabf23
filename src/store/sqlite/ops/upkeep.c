/*
 * upkeep.c - what becomes due, and leases that ran out. What has been kept for long enough is in
 * prune.c.
 *
 * Every pass looks first: one that finds nothing to do writes nothing, so an idle pool does not
 * keep the disk awake.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/reclaim.h"

/* ---- promote ---- */

static bool next_due(struct sqlite *sqlite, enum job_state state, usec_t *due_out,
                     struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_PROMOTE_NEXT);

    sqlite_query_int(&query, state);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *due_out = sqlite_row_int(&query);
    return true;
}

static bool move_due(struct sqlite *sqlite, enum sql_statement which, enum job_state state,
                     usec_t now, size_t limit, size_t *moved_out, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    sqlite_query_int(&query, state);
    sqlite_query_int(&query, now);
    sqlite_query_int(&query, (int64_t)limit);
    if (!sqlite_query_run(&query, err))
        return false;
    *moved_out = (size_t)sqlite_query_changes(&query);
    return true;
}

/* A row whose job was deleted by hand leaves, and comes nowhere. */
static bool tally_due(struct sqlite *sqlite, enum job_state state, usec_t now, size_t limit,
                      struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_PROMOTE_COUNT);

    sqlite_query_int(&query, state);
    sqlite_query_int(&query, now);
    sqlite_query_int(&query, (int64_t)limit);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        int64_t queue_id = sqlite_row_int(&query), leave = sqlite_row_int(&query),
                come = sqlite_row_int(&query);
        if (!sqlite_tally_jobs(sqlite, queue_id, state, -leave, err) ||
            !sqlite_tally_jobs(sqlite, queue_id, JOB_READY, come, err))
            return false;
    }
}

static bool promote(struct sqlite *sqlite, enum job_state state, usec_t now, size_t limit,
                    size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    size_t removed;

    if (!tally_due(sqlite, state, now, limit, err) ||
        !move_due(sqlite, SQL_PROMOTE_ADD, state, now, limit, moved_out, err) ||
        !move_due(sqlite, SQL_PROMOTE_REMOVE, state, now, limit, &removed, err))
        return false;
    sqlite->ring = *moved_out > 0;
    return next_due(sqlite, state, next_due_out, err);
}

bool sqlite_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                    size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    *moved_out = 0;
    if (!next_due(sqlite, state, next_due_out, err))
        return false;
    if (*next_due_out == 0 || *next_due_out > now)
        return true;
    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, promote(sqlite, state, now, limit, moved_out, next_due_out, err),
                      err);
}

/* ---- reclaim ---- */

static bool next_expired_queue(struct sqlite *sqlite, usec_t now, int64_t *queue_id_out,
                               struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_EXPIRED_QUEUES);

    sqlite_query_int(&query, now);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *queue_id_out = found ? sqlite_row_int(&query) : 0;
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
        if (!sqlite_reclaim_queue(sqlite, queue_id, now, limit - *moved_out, &moved, err))
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
    if (!next_expired_queue(sqlite, now, &queue_id, err))
        return false;
    if (queue_id == 0)
        return true;
    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, reclaim_all(sqlite, store_over_at(store, now), limit, moved_out, err),
                      err);
}
