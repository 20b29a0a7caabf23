/*
 * failures.c - the jobs that failed last, of all queues together.
 */
#include "base/cleanup.h"
#include "store/redis/codec/show.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <stdio.h>
#include <stdlib.h>

struct failure {
    struct uuid id;
    usec_t failed_at;
    size_t queue; /* its number in redis->queues */
};

/* As many of each queue as may be shown in the end. */
static bool ask(struct redis *redis, size_t limit, struct redis_batch *batch, struct error *err)
{
    char key[JOB_NAME_MAX + 16];

    for (size_t i = 0; i < redis->queues.count; i++) {
        snprintf(key, sizeof key, "{%s}:failed", redis->queues.items[i]);
        struct redis_command *command = redis_batch_plain(redis, batch, "ZREVRANGE", key, false);
        if (!command)
            return error_no_memory(err);
        redis_command_int(command, 0);
        redis_command_int(command, (int64_t)limit - 1);
        redis_command_text(command, "WITHSCORES");
    }
    return redis_run(redis, batch, err);
}

static size_t read_failures(const struct redis_batch *batch, struct failure *failures)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        const redisReply *reply = batch->items[i].reply;
        for (size_t k = 0; k + 2 <= reply->elements; k += 2) {
            failures[count].queue = i;
            failures[count].failed_at = redis_reply_int(reply->element[k + 1]);
            count += redis_reply_uuid(reply->element[k], &failures[count].id);
        }
    }
    return count;
}

static int newest_first(const void *a, const void *b)
{
    const struct failure *first = a, *second = b;

    if (first->failed_at != second->failed_at)
        return first->failed_at > second->failed_at ? -1 : 1;
    return uuid_compare(&second->id, &first->id);
}

static bool show(struct redis *redis, const struct failure *failures, size_t count,
                 struct job_list *jobs_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    for (size_t i = 0; i < count; i++) {
        struct redis_command *command = redis_batch_on_queue(
            redis, &batch, SCRIPT_SHOW, redis->queues.items[failures[i].queue]);
        if (!command)
            return error_no_memory(err);
        redis_command_text(command, "brief");
        redis_command_uuid(command, &failures[i].id);
    }
    if (!redis_run(redis, &batch, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!redis_show_read(batch.items[i].reply, redis->queues.items[failures[i].queue], jobs_out,
                             err))
            return false;
    return true;
}

/* What is not shown here: see store.h. */
static void strip(struct job_list *jobs, size_t from)
{
    for (size_t i = from; i < jobs->count; i++) {
        jobs->items[i].payload = (struct bytes){0};
        jobs->items[i].output = (struct bytes){0};
    }
}

bool redis_failures(struct store *store, size_t limit, struct job_list *jobs_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    size_t before = jobs_out->count;

    redis_begin(redis);
    if (!redis_queues_load(redis, err) || !ask(redis, limit, &batch, err))
        return false;
    AUTO_FREE struct failure *failures = calloc(redis->queues.count * limit + 1, sizeof *failures);
    if (!failures)
        return error_no_memory(err);
    size_t count = read_failures(&batch, failures);
    qsort(failures, count, sizeof *failures, newest_first);
    if (!show(redis, failures, count < limit ? count : limit, jobs_out, err))
        return false;
    strip(jobs_out, before);
    return true;
}
