/*
 * repair.c - what people do to jobs: cancel, run now, run again, delete; pause a queue, hide it.
 *
 * People name jobs by id, not by queue: every queue is asked, in one round trip, and the one that
 * has the job acts.
 */
#include "base/cleanup.h"
#include "store/redis/codec/verdict.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

struct repair {
    enum redis_script script;
    bool has_now, has_run_at;
    usec_t now, run_at;
};

static bool ask(struct redis *redis, const struct repair *repair, const struct uuid *ids,
                size_t count, struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < redis->queues.count; i++) {
        struct redis_command *command =
            redis_batch_on_queue(redis, batch, repair->script, redis->queues.items[i]);
        if (!command)
            return error_no_memory(err);
        if (repair->has_now)
            redis_command_moment(command, repair->now);
        if (repair->has_run_at)
            redis_command_int(command, repair->run_at);
        for (size_t k = 0; k < count; k++)
            redis_command_uuid(command, &ids[k]);
    }
    return redis_run(redis, batch, err);
}

static bool run_repair(struct redis *redis, const struct repair *repair, const struct uuid *ids,
                       size_t count, enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    redis_begin(redis);
    if (!redis_queues_load(redis, err) || !ask(redis, repair, ids, count, &batch, err))
        return false;
    for (size_t i = 0; i < count; i++)
        verdicts_out[i] = TH_E_NOT_FOUND;
    for (size_t i = 0; i < batch.count; i++) {
        const redisReply *reply = batch.items[i].reply;
        if (reply->type != REDIS_REPLY_STRING || reply->len != count)
            return error_set(err, TH_E_INTERNAL, "redis: %zu verdicts expected", count);
        for (size_t k = 0; k < count; k++)
            verdicts_out[k] = redis_verdict_join(verdicts_out[k], reply->str[k]);
    }
    return true;
}

bool redis_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err)
{
    const struct repair repair = {.script = SCRIPT_CANCEL, .has_now = true, .now = now};

    return run_repair(redis_of(store), &repair, ids, count, verdicts_out, err);
}

bool redis_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err)
{
    const struct repair repair = {.script = SCRIPT_RUN_NOW, .has_now = true, .now = now};

    return run_repair(redis_of(store), &repair, ids, count, verdicts_out, err);
}

bool redis_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    const struct repair repair = {.script = SCRIPT_REQUEUE,
                                  .has_now = true,
                                  .has_run_at = true,
                                  .now = now,
                                  .run_at = run_at};

    return run_repair(redis_of(store), &repair, ids, count, verdicts_out, err);
}

bool redis_remove(struct store *store, const struct uuid *ids, size_t count,
                  enum th_error_code *verdicts_out, struct error *err)
{
    const struct repair repair = {.script = SCRIPT_REMOVE};

    return run_repair(redis_of(store), &repair, ids, count, verdicts_out, err);
}

bool redis_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                      struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_PAUSE, queue);

    if (!command)
        return error_no_memory(err);
    redis_command_int(command, paused_at);
    redis_command_text(command, by ? by : "");
    redis_begin(redis);
    return redis_queues_add(redis, &queue, 1, err) && redis_run(redis, &batch, err);
}

bool redis_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                      struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *verdict_out = TH_E_NOT_FOUND;
    redis_begin(redis);
    if (!redis_queues_load(redis, err))
        return false;
    if (!redis_names_have(&redis->queues, queue))
        return true;
    if (!redis_batch_on_queue(redis, &batch, SCRIPT_HIDE, queue))
        return error_no_memory(err);
    if (!redis_run(redis, &batch, err))
        return false;
    *verdict_out = redis_verdict_of(batch.items[0].reply->str[0]);
    return true;
}
