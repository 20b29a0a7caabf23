/*
 * savepoint.c - a part of a transaction that can be taken back while the rest goes on.
 */
#include "store/sqlite/parts/savepoint.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

#include <stdlib.h>
#include <string.h>

static bool run(struct sqlite *sqlite, enum sql_statement which, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    return sqlite_query_run(&query, err);
}

bool sqlite_savepoint_set(struct sqlite *sqlite, struct sqlite_savepoint *savepoint_out,
                          struct error *err)
{
    const struct sqlite_tallies *tallies = &sqlite->tallies;

    savepoint_out->count = tallies->count;
    savepoint_out->ring = sqlite->ring;
    savepoint_out->tallies = calloc(tallies->count + 1, sizeof *savepoint_out->tallies);
    if (!savepoint_out->tallies)
        return error_no_memory(err);
    if (tallies->count > 0)
        memcpy(savepoint_out->tallies, tallies->items, tallies->count * sizeof *tallies->items);
    return run(sqlite, SQL_SAVEPOINT, err);
}

bool sqlite_savepoint_release(struct sqlite *sqlite, struct error *err)
{
    return run(sqlite, SQL_SAVEPOINT_RELEASE, err);
}

/* Tallies are only ever added, so there is room for those that were there. */
bool sqlite_savepoint_go_back(struct sqlite *sqlite, const struct sqlite_savepoint *savepoint,
                              struct error *err)
{
    if (!run(sqlite, SQL_SAVEPOINT_GO_BACK, err) || !run(sqlite, SQL_SAVEPOINT_RELEASE, err))
        return false;
    if (savepoint->count > 0)
        memcpy(sqlite->tallies.items, savepoint->tallies,
               savepoint->count * sizeof *savepoint->tallies);
    sqlite->tallies.count = savepoint->count;
    sqlite->ring = savepoint->ring;
    sqlite_queues_done(&sqlite->queues);
    return true;
}

void sqlite_savepoint_done(struct sqlite_savepoint *savepoint)
{
    free(savepoint->tallies);
}
