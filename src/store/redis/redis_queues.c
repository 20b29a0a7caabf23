/*
 * redis_queues.c - SADD before the first job, SMEMBERS for whoever looks at all queues.
 */
#include "store/redis/redis_queues.h"

#include "base/cleanup.h"

bool redis_queues_load(struct redis *redis, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    if (redis_plain(redis, &batch, "SMEMBERS", "queues", false) == NULL)
        return error_no_memory(err);
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    redis_names_done(&redis->queues);
    for (size_t i = 0; i < reply->elements; i++)
        if (!redis_names_add(&redis->queues, reply->element[i]->str))
            return error_no_memory(err);
    return true;
}

bool redis_queues_recall(struct redis *redis, struct error *err)
{
    if (redis_queues_load(redis, err))
        return true;
    return redis->slot_nodes != NULL && err->code == TH_E_UNAVAILABLE && redis->queues.count > 0;
}

static bool list(struct redis *redis, const struct redis_names *added, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    /* Listed twice is listed once: it is never in doubt. */
    struct redis_command *command = redis_plain(redis, &batch, "SADD", "queues", false);

    if (command == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < added->count; i++)
        redis_command_text(command, added->items[i]);
    if (!redis_run(redis, &batch, err))
        return false;
    for (size_t i = 0; i < added->count; i++)
        if (!redis_names_add(&redis->known, added->items[i]))
            return error_no_memory(err);
    return true;
}

bool redis_queues_add(struct redis *redis, const char *const *queues, size_t count,
                      struct error *err)
{
    CLEANUP(redis_names_done) struct redis_names added = {0};

    for (size_t i = 0; i < count; i++)
        if (!redis_names_have(&redis->known, queues[i]) && !redis_names_add(&added, queues[i]))
            return error_no_memory(err);
    return added.count == 0 || list(redis, &added, err);
}
