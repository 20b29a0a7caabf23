/*
 * failures.c - the jobs that failed last.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

static void read_failure(struct pg_answer *answer, struct arena *arena, struct job *job)
{
    job->id = pg_answer_uuid(answer);
    job->type = pg_answer_text(answer, arena);
    job->queue = pg_answer_text(answer, arena);
    job->state = (enum job_state)pg_answer_int(answer);
    job->attempts = (int)pg_answer_int(answer);
    job->max_attempts = (int)pg_answer_int(answer);
    job->last_error = pg_answer_text(answer, arena);
    job->failed_at = pg_answer_int(answer);
    job->reason = (enum job_reason)pg_answer_int(answer);
}

bool pg_failures(struct store *store, size_t limit, struct job_list *jobs_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_FAILURES);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_int(&call, (int64_t)limit);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    while (pg_answer_next(&answer)) {
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        read_failure(&answer, &jobs_out->arena, job);
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}
