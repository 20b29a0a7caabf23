/*
 * look_workers.c - the pools, remote workers among them, and what each of their processes does;
 * what is wanted of one of them.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "browse/looks.h"
#include "client/attention.h"
#include "client/pool_find.h"
#include "client/pool_json.h"
#include "store/store.h"

/* They report at once what is new while somebody looks. */
static void pay_attention(struct store *store)
{
    const struct watch watch = {.pools = true};
    struct attention attention = {0};

    attention_pay(&attention, store, &watch);
}

static void write_pool(struct json_writer *json, const struct pool *pool, struct arena *arena,
                       usec_t now)
{
    const struct pool_status status = pool_status_read(pool->status, arena);
    const bool is_silent = pool_status_is_silent(&status, pool->beat_at, now);

    pool_json_add(json, pool, &status, is_silent ? "silent" : status.state);
}

bool look_workers(struct look *look, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    struct json_writer json = {.out = look->body};

    if (!unpack_end(&look->wish, "a look at the pools", err) ||
        !store_pools(look->store, &pools, err))
        return false;
    pay_attention(look->store);
    const usec_t now = store_now(look->store);
    json_write_open(&json, NULL, '{');
    json_write_open(&json, "pools", '[');
    for (size_t i = 0; i < pools.count; i++)
        write_pool(&json, &pools.items[i], look->arena, now);
    json_write_close(&json, ']');
    json_write_close(&json, '}');
    return !look->arena->failed || error_no_memory(err);
}

/* ---- what is wanted of one ---- */

static void write_wanted(struct look *look, const char *name, enum pool_want want)
{
    struct json_writer json = {.out = look->body};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "name", name);
    json_write_text(&json, "want", pool_want_name(want));
    json_write_close(&json, '}');
}

bool look_pool_want(struct look *look, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    const char *name = unpack_word(&look->wish, JOB_NAME_MAX);
    const enum pool_want want =
        (enum pool_want)unpack_number(&look->wish, POOL_WANT_NOTHING, POOL_WANT_TERMINATE);
    const char *by = unpack_text(&look->wish, STORE_BY_SIZE - 1);
    const struct pool *pool = NULL;

    if (!unpack_end(&look->wish, "what is wanted of a pool", err) ||
        !store_pools(look->store, &pools, err) || !pool_find(&pools, name, &pool, err) ||
        !store_pool_want(look->store, pool->name, want, by, store_now(look->store), err))
        return false;
    write_wanted(look, pool->name, want);
    return true;
}
