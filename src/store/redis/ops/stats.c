/*
 * stats.c - how many jobs of each state every queue has, and how many stand before one.
 */
#include "base/cleanup.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#define HEAD_FIELDS  6 /* before the states: see scripts/stats.lua */
#define ASIDE_FIELDS 2 /* after them */

static bool read_line(const char *queue, const redisReply *reply,
                      struct queue_stats_list *stats_out, struct error *err)
{
    if (reply->elements == 0)
        return true; /* it is hidden */
    struct queue_stats *line = queue_stats_list_add(stats_out);
    if (!line)
        return error_no_memory(err);
    if (reply->elements != HEAD_FIELDS + JOB_STATES + ASIDE_FIELDS)
        return error_set(err, TH_E_INTERNAL, "redis: stats answered %zu fields", reply->elements);
    line->queue = arena_text(&stats_out->arena, queue);
    line->paused_at = redis_reply_int(reply->element[0]);
    if (reply->element[1]->len > 0)
        line->paused_by = arena_text(&stats_out->arena, reply->element[1]->str);
    line->spent_until = redis_reply_int(reply->element[2]);
    line->done_total = redis_reply_int(reply->element[3]);
    line->failed_total = redis_reply_int(reply->element[4]);
    line->oldest_ready = redis_reply_int(reply->element[5]);
    for (size_t i = 0; i < JOB_STATES; i++)
        line->jobs[i] = redis_reply_int(reply->element[HEAD_FIELDS + i]);
    line->no_handler = redis_reply_int(reply->element[HEAD_FIELDS + JOB_STATES]);
    line->cannot_start = redis_reply_int(reply->element[HEAD_FIELDS + JOB_STATES + 1]);
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
        if (!redis_batch_on_queue(redis, &batch, SCRIPT_STATS, redis->queues.items[i]))
            return error_no_memory(err);
    if (!redis_run(redis, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++)
        if (!read_line(redis->queues.items[i], batch.items[i].reply, stats_out, err))
            return false;
    return !stats_out->arena.failed || error_no_memory(err);
}

bool redis_count_before(struct store *store, const struct job *job, size_t limit, size_t *count_out,
                        struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command =
        redis_batch_on_queue(redis, &batch, SCRIPT_COUNT_BEFORE, job->queue);

    if (!command)
        return error_no_memory(err);
    redis_command_uuid(command, &job->id);
    redis_begin(redis);
    if (!redis_run(redis, &batch, err))
        return false;
    const int64_t count = redis_reply_int(batch.items[0].reply);
    *count_out = count < (int64_t)limit ? (size_t)count : limit;
    return true;
}
