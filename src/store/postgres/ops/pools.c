/*
 * pools.c - the pools that work on this schema.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/statement.h"

bool postgres_pool_register(struct store *store, const struct pool *pool, usec_t now,
                            struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_POOL_PUT);

    call.writes = true;
    statement_text(&call, pool->name);
    statement_text(&call, pool->host);
    statement_int_or_null(&call, pool->pid);
    statement_int(&call, pool->started_at != 0 ? pool->started_at : now);
    statement_int(&call, now);
    statement_bytes(&call, pool->status);
    return statement_run(&call, NULL, err);
}

static bool read_pools(struct answer *answer, struct pool_list *pools_out, struct error *err)
{
    while (answer_next(answer)) {
        struct pool *pool = pool_list_add(pools_out);
        if (pool == NULL)
            return error_no_memory(err);
        pool->name = answer_text(answer, &pools_out->arena);
        pool->host = answer_text(answer, &pools_out->arena);
        pool->pid = answer_int(answer);
        pool->started_at = answer_int(answer);
        pool->beat_at = answer_int(answer);
        pool->status = answer_bytes(answer, &pools_out->arena);
    }
    return !pools_out->arena.failed || error_no_memory(err);
}

bool postgres_pools(struct store *store, struct pool_list *pools_out, struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres_of(store), SQL_POOLS);
    CLEANUP(answer_done) struct answer answer = {0};

    return statement_run(&call, &answer, err) && read_pools(&answer, pools_out, err);
}

bool postgres_pool_remove(struct store *store, const char *name, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_POOL_REMOVE);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_text(&call, name);
    if (!statement_run(&call, &answer, err))
        return false;
    return answer_next(&answer) || error_set(err, TH_E_NOT_FOUND, "no pool '%s'", name);
}

bool postgres_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                                 struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_POOLS_REMOVE_SILENT);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_int(&call, before);
    return statement_run(&call, &answer, err) && read_pools(&answer, removed_out, err);
}
