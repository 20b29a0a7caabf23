/*
 * held.c - every running job of a pool, with its token.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/columns.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

/* An exchange of ours that got no answer in time may still be under way, and commit later: when the
 * commit itself takes long, nothing of it can be seen yet. It has the pool's lock until it can be
 * seen, so that is waited for in a statement of its own: the next one sees what it brought. */
static bool wait_for_exchange(struct postgres *postgres, const char *pool, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_POOL_LOCK);

    pg_statement_text(&call, pool);
    return pg_statement_run(&call, NULL, err);
}

bool pg_held(struct store *store, const char *pool, struct job_list *jobs_out, struct error *err)
{
    struct arena *arena = &jobs_out->arena;
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_HELD);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_text(&call, pool);
    if (!wait_for_exchange(pg_of(store), pool, err) || !pg_statement_run(&call, &answer, err))
        return false;
    struct columns columns = pg_columns_of(&answer, arena);
    while (pg_answer_next(&answer)) {
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        columns_held(&columns, job);
        columns_extras(&columns, job);
        job->pool = arena_text(arena, pool);
    }
    return !arena->failed || error_no_memory(err);
}
