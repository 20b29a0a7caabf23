/*
 * queues.c - SADD before the first job and again and again, SMEMBERS for whoever looks at all
 * queues.
 */
#include "store/redis/parts/queues.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "job/job.h"
#include "store/redis/net/run.h"

#include <stdio.h>

#define KEEP_INTERVAL (5 * USEC_PER_SEC)

bool redis_queues_load(struct redis *redis, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    if (!redis_batch_plain(redis, &batch, "SMEMBERS", "queues", false))
        return error_no_memory(err);
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    redis_names_done(&redis->queues);
    for (size_t i = 0; i < reply->elements; i++) {
        const char *name = reply->element[i]->str;
        /* What is no name was never ours. */
        if (job_name_is_valid(name) && !redis_names_add(&redis->queues, name))
            return error_no_memory(err);
    }
    return true;
}

bool redis_queues_recall(struct redis *redis, struct error *err)
{
    if (redis_queues_load(redis, err))
        return true;
    return redis->slot_nodes && err->code == TH_E_UNAVAILABLE && redis->queues.count > 0;
}

static bool list(struct redis *redis, const struct redis_names *added, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    /* Listed twice is listed once: it is never in doubt. */
    struct redis_command *command = redis_batch_plain(redis, &batch, "SADD", "queues", false);

    if (!command)
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

/* Those of them that have ever had a job. */
static bool find_used(struct redis *redis, const char *const *queues, size_t count,
                      struct redis_names *used, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    char key[JOB_NAME_MAX + 16];

    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "{%s}:state", queues[i]);
        if (!redis_batch_plain(redis, &batch, "EXISTS", key, false))
            return error_no_memory(err);
    }
    if (!redis_run_parts(redis, &batch, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const redisReply *reply = batch.items[i].reply;
        if (reply && reply->integer == 1 && !redis_names_add(used, queues[i]))
            return error_no_memory(err);
    }
    return true;
}

void redis_queues_keep(struct redis *redis, const char *const *queues, size_t count)
{
    CLEANUP(redis_names_done) struct redis_names used = {0};
    struct error ignored; /* it is done again soon */

    if (count == 0 || clock_boot() < redis->kept_at + KEEP_INTERVAL)
        return;
    redis->kept_at = clock_boot();
    if (find_used(redis, queues, count, &used, &ignored) && used.count > 0)
        (void)!list(redis, &used, &ignored);
}
