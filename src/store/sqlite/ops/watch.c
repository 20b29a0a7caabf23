/*
 * watch.c - marks of those who look at jobs, and at the pools.
 *
 * Whoever leaves one clears away those that are over: there are never more than there are people
 * who look.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/standing.h"

#include <stdlib.h>

static bool put(struct sqlite *sqlite, int64_t seq, usec_t until, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_WATCH_PUT);

    sqlite_query_int(&query, seq);
    sqlite_query_int(&query, until);
    return sqlite_query_run(&query, err);
}

static bool sweep(struct sqlite *sqlite, usec_t now, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_WATCH_SWEEP);

    sqlite_query_int(&query, now);
    return sqlite_query_run(&query, err);
}

static bool put_all(struct sqlite *sqlite, const struct watch *watch, usec_t until, usec_t now,
                    struct error *err)
{
    if (!sweep(sqlite, now, err) || (watch->pools && !put(sqlite, WATCH_POOLS, until, err)))
        return false;
    for (size_t i = 0; i < watch->count; i++) {
        int64_t seq;

        if (!sqlite_standing_seq_of(sqlite, &watch->jobs[i].id, &seq, err))
            return false;
        if (seq != 0 && !put(sqlite, seq, until, err))
            return false;
    }
    return true;
}

bool sqlite_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                  struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, put_all(sqlite, watch, until, now, err), err);
}

static bool add(int64_t **seqs, size_t *count, int64_t seq, struct error *err)
{
    int64_t *grown = realloc(*seqs, (*count + 1) * sizeof(**seqs));

    if (!grown)
        return error_no_memory(err);
    *seqs = grown;
    grown[(*count)++] = seq;
    return true;
}

bool sqlite_watch_read(struct sqlite *sqlite, usec_t now, int64_t **seqs_out, size_t *count_out,
                       struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_WATCHED);
    bool found;

    sqlite_query_int(&query, now);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        if (!add(seqs_out, count_out, sqlite_row_int(&query), err))
            return false;
    }
}
