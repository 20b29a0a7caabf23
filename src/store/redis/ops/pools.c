/*
 * pools.c - the pools that work on this store: a hash of what they said, and their last
 * beats.
 */
#include "base/cleanup.h"
#include "store/checks.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX    ((size_t)16 << 20)
#define FIELDS      9 /* name, host, pid, started_at, beat_at, status, want, wanted_at, wanted_by */
#define BEAT_FIELDS 3 /* whether it is known, want, wanted_at */

static const char *const keys[] = {"{pools}:pool", "{pools}:beat"};

static void add_status(struct redis_command *command, struct bytes status)
{
    CLEANUP(buffer_done) struct buffer word = BUFFER(WORD_MAX);

    if (status.data) {
        buffer_char(&word, '=');
        buffer_add(&word, status.data, status.length);
    }
    redis_command_bytes(command, word.data, word.length);
}

struct redis_command *redis_pools_beat(struct redis *redis, struct redis_batch *batch,
                                       const struct heartbeat *heartbeat, usec_t now)
{
    struct redis_command *command =
        redis_batch_on_keys(redis, batch, SCRIPT_POOL_BEAT, keys, COUNT_OF(keys));

    if (!command)
        return NULL;
    redis_command_text(command, heartbeat->pool);
    redis_command_moment(command, now);
    add_status(command, heartbeat->status);
    return command;
}

struct pool_answer redis_pools_answer(const struct redis_command *command)
{
    const redisReply *reply = command->reply;

    /* Nobody can have removed it while its place does not answer. */
    if (command->outcome != TH_OK || reply->elements != BEAT_FIELDS)
        return (struct pool_answer){.is_registered = true};
    return (struct pool_answer){
        .is_registered = reply->element[0]->integer > 0,
        .is_watched = reply->element[0]->integer == 2,
        .want = pool_want_of(redis_reply_int(reply->element[1])),
        .wanted_at = redis_reply_int(reply->element[2]),
    };
}

bool redis_pools_watch(struct redis *redis, struct redis_batch *batch, usec_t until)
{
    struct redis_command *command =
        redis_batch_on_keys(redis, batch, SCRIPT_WATCH_POOLS, keys, COUNT_OF(keys));

    if (!command)
        return false;
    redis_command_moment(command, until);
    return true;
}

bool redis_pool_register(struct store *store, const struct pool *pool, usec_t now,
                         struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_keys(redis, &batch, SCRIPT_POOL_REGISTER, keys, COUNT_OF(keys));

    if (!command)
        return error_no_memory(err);
    redis_command_text(command, pool->name);
    redis_command_text(command, pool->host ? pool->host : "");
    redis_command_int(command, pool->pid);
    redis_command_int(command, pool->started_at);
    redis_command_int(command, now);
    add_status(command, pool->status);
    redis_begin(redis);
    return redis_run(redis, &batch, err);
}

static bool read_pool(redisReply *const *fields, struct pool_list *pools_out, struct error *err)
{
    struct arena *arena = &pools_out->arena;
    struct pool *pool = pool_list_add(pools_out);

    if (!pool)
        return error_no_memory(err);
    pool->name = arena_text(arena, fields[0]->str);
    pool->host = fields[1]->len > 0 ? arena_text(arena, fields[1]->str) : NULL;
    pool->pid = redis_reply_int(fields[2]);
    pool->started_at = redis_reply_int(fields[3]);
    pool->beat_at = redis_reply_int(fields[4]);
    if (fields[5]->len > 0)
        pool->status = arena_bytes(
            arena, (struct bytes){(const unsigned char *)fields[5]->str + 1, fields[5]->len - 1});
    pool->want = pool_want_of(redis_reply_int(fields[6]));
    pool->wanted_at = redis_reply_int(fields[7]);
    pool->wanted_by = fields[8]->len > 0 ? arena_text(arena, fields[8]->str) : NULL;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pool *)a)->name, ((const struct pool *)b)->name);
}

/* All, or those that were silent since `before`, which are removed on the way. */
static bool list_pools(struct redis *redis, usec_t before, struct pool_list *pools_out,
                       struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_keys(redis, &batch, SCRIPT_POOL_LIST, keys, COUNT_OF(keys));

    if (!command)
        return error_no_memory(err);
    if (before == 0)
        redis_command_text(command, "");
    else
        redis_command_int(command, before);
    redis_command_int(command, before != 0);
    command->writes = before != 0;
    redis_begin(redis);
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    for (size_t i = 0; i + FIELDS <= reply->elements; i += FIELDS)
        if (!read_pool(&reply->element[i], pools_out, err))
            return false;
    if (pools_out->count > 0)
        qsort(pools_out->items, pools_out->count, sizeof *pools_out->items, by_name);
    return !pools_out->arena.failed || error_no_memory(err);
}

bool redis_pools(struct store *store, struct pool_list *pools_out, struct error *err)
{
    return list_pools(redis_of(store), 0, pools_out, err);
}

bool redis_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                              struct error *err)
{
    return before <= 0 || list_pools(redis_of(store), before, removed_out, err);
}

/* A script about one pool, which answers whether it is known. */
static bool run_on_pool(struct redis *redis, struct redis_batch *batch, const char *name,
                        struct error *err)
{
    redis_begin(redis);
    if (!redis_run(redis, batch, err))
        return false;
    return batch->items[0].reply->integer == 1 || checks_no_pool(name, err);
}

bool redis_pool_remove(struct store *store, const char *name, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_keys(redis, &batch, SCRIPT_POOL_REMOVE, keys, COUNT_OF(keys));

    if (!command)
        return error_no_memory(err);
    redis_command_text(command, name);
    return run_on_pool(redis, &batch, name, err);
}

bool redis_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                     usec_t now, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_keys(redis, &batch, SCRIPT_POOL_WANT, keys, COUNT_OF(keys));

    if (!command)
        return error_no_memory(err);
    redis_command_text(command, name);
    redis_command_int(command, want);
    redis_command_int(command, now);
    redis_command_text(command, by ? by : "");
    return run_on_pool(redis, &batch, name, err);
}
