/*
 * held.c - the running jobs of a pool.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/ops/ops.h"

bool sqlite_held(struct store *store, const char *pool, struct job_list *jobs_out,
                 struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_HELD);
    struct columns columns = sqlite_columns_of(&query, &jobs_out->arena);

    sqlite_query_text(&query, pool);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        columns_held(&columns, job);
        columns_extras(&columns, job);
        job->pool = arena_text(&jobs_out->arena, pool);
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}
