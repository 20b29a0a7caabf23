/*
 * upkeep.c - what becomes due.
 *
 * Every pass looks first: one that finds nothing to do writes nothing, so an idle pool does not
 * keep the disk awake.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/ops/ops.h"

static bool next_due(struct sqlite *sqlite, enum job_state state, usec_t *due_out,
                     struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_PROMOTE_NEXT);

    query_int(&query, state);
    if (!query_row(&query, &found, err))
        return false;
    *due_out = column_int(&query);
    return true;
}

static bool move_due(struct sqlite *sqlite, enum sql_statement which, enum job_state state,
                     usec_t now, size_t limit, size_t *moved_out, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, which);

    query_int(&query, state);
    query_int(&query, now);
    query_int(&query, (int64_t)limit);
    if (!query_run(&query, err))
        return false;
    *moved_out = (size_t)query_changes(&query);
    return true;
}

/* A row whose job was deleted by hand leaves, and comes nowhere. */
static bool tally_due(struct sqlite *sqlite, enum job_state state, usec_t now, size_t limit,
                      struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_PROMOTE_COUNT);

    query_int(&query, state);
    query_int(&query, now);
    query_int(&query, (int64_t)limit);
    for (;;) {
        if (!query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        int64_t queue_id = column_int(&query), leave = column_int(&query),
                come = column_int(&query);
        if (!tally_jobs(sqlite, queue_id, state, -leave, err) ||
            !tally_jobs(sqlite, queue_id, JOB_READY, come, err))
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
