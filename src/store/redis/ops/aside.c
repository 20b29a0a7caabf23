/*
 * aside.c - ready jobs that nobody can run now: which there are, back into line, or to their end.
 */
#include "job/aside.h"
#include "base/cleanup.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <stdio.h>

#define FIELDS  3              /* of each type: see scripts/aside.lua */
#define AT_ONCE ((size_t)1000) /* jobs of one script: while it runs, nobody else is served */

/* ---- which there are ---- */

static bool read_types(const char *queue, const redisReply *reply, struct aside_list *types,
                       struct error *err)
{
    const char *name = arena_text(&types->arena, queue);

    for (size_t i = 0; i + FIELDS <= reply->elements; i += FIELDS) {
        struct aside_type *type = aside_list_add(types);
        if (!type)
            return error_no_memory(err);
        type->queue = name;
        type->why = redis_reply_int(reply->element[i]) == ASIDE_CANNOT_START ? ASIDE_CANNOT_START
                                                                             : ASIDE_NO_HANDLER;
        type->type = arena_text(&types->arena, reply->element[i + 1]->str);
        type->since = redis_reply_int(reply->element[i + 2]);
    }
    return true;
}

bool redis_aside(struct store *store, const char *const *queues, size_t count,
                 struct aside_list *types_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    redis_begin(redis);
    if (count == 0 && !redis_queues_recall(redis, err))
        return false;
    const char *const *names = count == 0 ? (const char *const *)redis->queues.items : queues;
    const size_t name_count = count == 0 ? redis->queues.count : count;
    for (size_t i = 0; i < name_count; i++)
        if (!redis_batch_on_queue(redis, &batch, SCRIPT_ASIDE, names[i]))
            return error_no_memory(err);
    if (!redis_run_parts(redis, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++)
        if (batch.items[i].reply && !read_types(names[i], batch.items[i].reply, types_out, err))
            return false;
    return !types_out->arena.failed || error_no_memory(err);
}

/* ---- what becomes of them ---- */

static void add_kind(struct redis_command *command, const struct aside_type *type, usec_t before,
                     size_t limit)
{
    redis_command_int(command, type->why);
    redis_command_text(command, type->type);
    if (before == 0)
        redis_command_text(command, "");
    else
        redis_command_moment(command, before);
    redis_command_int(command, (int64_t)limit);
}

static bool run_and_count(struct redis *redis, struct redis_batch *batch, size_t *count_out,
                          struct error *err)
{
    if (!redis_run(redis, batch, err))
        return false;
    *count_out = (size_t)redis_reply_int(batch->items[0].reply);
    return true;
}

static bool bring_some_back(struct redis *redis, const struct aside_type *type, usec_t before,
                            size_t limit, size_t *moved_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_queue(redis, &batch, SCRIPT_BRING_BACK, type->queue);

    if (!command)
        return error_no_memory(err);
    add_kind(command, type, before, limit);
    return run_and_count(redis, &batch, moved_out, err);
}

bool redis_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                      size_t limit, size_t *moved_out, struct error *err)
{
    size_t part = 0, moved = 0;

    *moved_out = 0;
    redis_begin(redis_of(store));
    do {
        const size_t left = limit - *moved_out;
        part = left < AT_ONCE ? left : AT_ONCE;
        if (!bring_some_back(redis_of(store), type, before, part, &moved, err))
            return false;
        *moved_out += moved;
    } while (moved == part && *moved_out < limit);
    return true;
}

static bool give_some_up(struct redis *redis, const struct aside_type *type, usec_t before,
                         usec_t now, size_t limit, size_t *ended_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_queue(redis, &batch, SCRIPT_GIVE_UP, type->queue);

    if (!command)
        return error_no_memory(err);
    redis_command_moment(command, now);
    add_kind(command, type, before, limit);
    redis_command_int(command, aside_reason(type->why));
    redis_command_text(command, aside_epitaph(type->why));
    return run_and_count(redis, &batch, ended_out, err);
}

bool redis_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                   size_t limit, size_t *ended_out, struct error *err)
{
    size_t part = 0, ended = 0;

    *ended_out = 0;
    redis_begin(redis_of(store));
    do {
        const size_t left = limit - *ended_out;
        part = left < AT_ONCE ? left : AT_ONCE;
        if (!give_some_up(redis_of(store), type, before, now, part, &ended, err))
            return false;
        *ended_out += ended;
    } while (ended == part && *ended_out < limit);
    return true;
}
