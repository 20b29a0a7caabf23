/*
 * failures.c - the jobs that failed last.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/ops/ops.h"

static bool read_failures(struct sqlite *sqlite, size_t limit, struct job_list *jobs_out,
                          struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_FAILURES);
    struct columns columns = sqlite_columns_of(&query, &jobs_out->arena);

    sqlite_query_int(&query, (int64_t)limit);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        columns_failure(&columns, job);
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
