/*
 * failures.c - the jobs that failed last.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/columns.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

bool pg_failures(struct store *store, size_t limit, struct job_list *jobs_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_FAILURES);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_int(&call, (int64_t)limit);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    struct columns columns = pg_columns_of(&answer, &jobs_out->arena);
    while (pg_answer_next(&answer)) {
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        columns_failure(&columns, job);
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}
