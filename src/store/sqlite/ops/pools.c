/*
 * pools.c - the pools that work on this file.
 */
#include "base/cleanup.h"
#include "store/checks.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/ops/ops.h"

static bool put_pool(struct sqlite *sqlite, const struct pool *pool, usec_t now, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_POOL_PUT);

    sqlite_query_text(&query, pool->name);
    sqlite_query_text(&query, pool->host);
    sqlite_query_int_or_null(&query, pool->pid);
    sqlite_query_int(&query, pool->started_at);
    sqlite_query_int(&query, now);
    sqlite_query_bytes(&query, pool->status);
    return sqlite_query_run(&query, err);
}

bool sqlite_pool_register(struct store *store, const struct pool *pool, usec_t now,
                          struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, put_pool(sqlite, pool, now, err), err);
}

static bool read_pools(struct sqlite_query *query, struct pool_list *pools_out, struct error *err)
{
    struct columns columns = sqlite_columns_of(query, &pools_out->arena);
    bool found;

    for (;;) {
        if (!sqlite_query_row(query, &found, err))
            return false;
        if (!found)
            break;
        struct pool *pool = pool_list_add(pools_out);
        if (!pool)
            return error_no_memory(err);
        columns_pool(&columns, pool);
    }
    return !pools_out->arena.failed || error_no_memory(err);
}

bool sqlite_pools(struct store *store, struct pool_list *pools_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_POOLS);

    return read_pools(&query, pools_out, err);
}

static bool remove_pool(struct sqlite *sqlite, const char *name, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_POOL_REMOVE);

    sqlite_query_text(&query, name);
    if (!sqlite_query_run(&query, err))
        return false;
    return sqlite_query_changes(&query) == 1 || checks_no_pool(name, err);
}

bool sqlite_pool_remove(struct store *store, const char *name, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, remove_pool(sqlite, name, err), err);
}

static bool set_want(struct sqlite *sqlite, const char *name, enum pool_want want, const char *by,
                     usec_t now, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_POOL_WANT);

    sqlite_query_int(&query, want);
    sqlite_query_int(&query, now);
    sqlite_query_text(&query, by);
    sqlite_query_text(&query, name);
    if (!sqlite_query_run(&query, err))
        return false;
    return sqlite_query_changes(&query) == 1 || checks_no_pool(name, err);
}

bool sqlite_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                      usec_t now, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, set_want(sqlite, name, want, by, now, err), err);
}

static bool read_silent(struct sqlite *sqlite, usec_t before, struct pool_list *pools_out,
                        struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_POOLS_SILENT);

    sqlite_query_int(&query, before);
    return read_pools(&query, pools_out, err);
}

static bool remove_silent(struct sqlite *sqlite, usec_t before, struct pool_list *removed_out,
                          struct error *err)
{
    if (!read_silent(sqlite, before, removed_out, err))
        return false;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_POOLS_REMOVE_SILENT);
    sqlite_query_int(&query, before);
    return sqlite_query_run(&query, err);
}

bool sqlite_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                               struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);
    CLEANUP(pool_list_done) struct pool_list silent = {0};

    if (!read_silent(sqlite, before, &silent, err))
        return false;
    if (silent.count == 0)
        return true;
    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, remove_silent(sqlite, before, removed_out, err), err);
}
