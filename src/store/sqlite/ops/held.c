/*
 * held.c - the running jobs of a pool.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/reserved.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"

bool sqlite_held(struct store *store, const char *pool, struct job_list *jobs_out,
                 struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_HELD);

    sqlite_query_text(&query, pool);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        struct job *job = job_list_add(jobs_out);
        if (job == NULL)
            return error_no_memory(err);
        sqlite_reserved_read(&query, &jobs_out->arena, job);
        job->queue = sqlite_row_text(&query, &jobs_out->arena);
        job->token = sqlite_row_token(&query);
        job->expires_at = sqlite_row_int(&query);
        job->started_at = sqlite_row_int(&query);
        job->worker = (int)sqlite_row_int(&query);
        job->cancel_requested_at = sqlite_row_int(&query);
        job->pool = arena_text(&jobs_out->arena, pool);
        job->state = JOB_RUNNING;
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}
