/*
 * failures.c - the jobs that failed last.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"

static void read_failure(struct sqlite_query *query, struct arena *arena, struct job *job)
{
    job->id = sqlite_row_uuid(query);
    job->type = sqlite_row_text(query, arena);
    job->queue = sqlite_row_text(query, arena);
    job->state = (enum job_state)sqlite_row_int(query);
    job->attempts = (int)sqlite_row_int(query);
    job->max_attempts = (int)sqlite_row_int(query);
    job->last_error = sqlite_row_text(query, arena);
    job->failed_at = sqlite_row_int(query);
    job->reason = (enum job_reason)sqlite_row_int(query);
}

static bool read_failures(struct sqlite *sqlite, size_t limit, struct job_list *jobs_out,
                          struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_FAILURES);

    sqlite_query_int(&query, (int64_t)limit);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        struct job *job = job_list_add(jobs_out);
        if (job == NULL)
            return error_no_memory(err);
        read_failure(&query, &jobs_out->arena, job);
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}

bool sqlite_failures(struct store *store, size_t limit, struct job_list *jobs_out,
                     struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_read(sqlite, err) &&
           sqlite_end(sqlite, read_failures(sqlite, limit, jobs_out, err), err);
}
