/*
 * redis_stats.c - how many jobs of each state every queue has.
 */
#include "base/cleanup.h"
#include "store/redis/redis_jobs.h"
#include "store/redis/redis_queues.h"
#include "store/redis/redis_record.h"

#define HEAD_FIELDS 4 /* before the states: see scripts/stats.lua */

static bool read_line(const char *queue, const redisReply *reply,
                      struct queue_stats_list *stats_out, struct error *err)
{
    struct queue_stats *line = queue_stats_list_add(stats_out);

    if (line == NULL)
        return error_no_memory(err);
    if (reply->elements != HEAD_FIELDS + JOB_STATES)
        return error_set(err, TH_E_INTERNAL, "redis: stats answered %zu fields", reply->elements);
    line->queue = arena_text(&stats_out->arena, queue);
    line->paused_at = redis_reply_int(reply->element[0]);
    line->done_total = redis_reply_int(reply->element[1]);
    line->failed_total = redis_reply_int(reply->element[2]);
    line->oldest_ready = redis_reply_int(reply->element[3]);
    for (size_t i = 0; i < JOB_STATES; i++)
        line->jobs[i] = redis_reply_int(reply->element[HEAD_FIELDS + i]);
    return true;
}

bool redis_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    redis_begin(redis);
    if (!redis_queues_load(redis, err))
        return false;
    for (size_t i = 0; i < redis->queues.count; i++)
        if (redis_on_queue(redis, &batch, SCRIPT_STATS, redis->queues.items[i]) == NULL)
            return error_no_memory(err);
    if (!redis_run(redis, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++)
        if (!read_line(redis->queues.items[i], batch.items[i].reply, stats_out, err))
            return false;
    return !stats_out->arena.failed || error_no_memory(err);
}
