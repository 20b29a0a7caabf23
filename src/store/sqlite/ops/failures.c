/*
 * failures.c - the jobs that failed last.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/ops/ops.h"

static void read_failure(struct query *query, struct arena *arena, struct job *job)
{
    job->id = column_uuid(query);
    job->type = column_text(query, arena);
    job->queue = column_text(query, arena);
    job->state = (enum job_state)column_int(query);
    job->attempts = (int)column_int(query);
    job->max_attempts = (int)column_int(query);
    job->last_error = column_text(query, arena);
    job->failed_at = column_int(query);
    job->reason = (enum job_reason)column_int(query);
}

static bool read_failures(struct sqlite *sqlite, size_t limit, struct job_list *jobs_out,
                          struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_FAILURES);

    query_int(&query, (int64_t)limit);
    for (;;) {
        if (!query_row(&query, &found, err))
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
