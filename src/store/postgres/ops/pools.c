/*
 * pools.c - the pools that work on this schema.
 */
#include "base/cleanup.h"
#include "store/checks.h"
#include "store/postgres/codec/columns.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

bool pg_pool_register(struct store *store, const struct pool *pool, usec_t now, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_POOL_PUT);

    call.writes = true;
    pg_statement_text(&call, pool->name);
    pg_statement_text(&call, pool->host);
    pg_statement_int_or_null(&call, pool->pid);
    pg_statement_int(&call, pool->started_at != 0 ? pool->started_at : now);
    pg_statement_int(&call, now);
    pg_statement_bytes(&call, pool->status);
    return pg_statement_run(&call, NULL, err);
}

static bool read_pools(struct pg_answer *answer, struct pool_list *pools_out, struct error *err)
{
    struct columns columns = pg_columns_of(answer, &pools_out->arena);

    while (pg_answer_next(answer)) {
        struct pool *pool = pool_list_add(pools_out);
        if (!pool)
            return error_no_memory(err);
        columns_pool(&columns, pool);
    }
    return !pools_out->arena.failed || error_no_memory(err);
}

bool pg_pools(struct store *store, struct pool_list *pools_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_POOLS);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    return pg_statement_run(&call, &answer, err) && read_pools(&answer, pools_out, err);
}

bool pg_pool_remove(struct store *store, const char *name, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_POOL_REMOVE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_text(&call, name);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    return pg_answer_next(&answer) || checks_no_pool(name, err);
}

bool pg_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                  usec_t now, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_POOL_WANT);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_text(&call, name);
    pg_statement_int4(&call, want);
    pg_statement_int(&call, now);
    pg_statement_text(&call, by);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    return pg_answer_next(&answer) || checks_no_pool(name, err);
}

bool pg_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                           struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_POOLS_REMOVE_SILENT);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_int(&call, before);
    return pg_statement_run(&call, &answer, err) && read_pools(&answer, removed_out, err);
}
