/*
 * watch.c - marks of those who look at jobs, and at the pools: a hash per queue, and a field
 * beside the pools.
 */
#include "base/cleanup.h"
#include "store/redis/ops/ops.h"

#include <string.h>

static bool is_first_of_queue(const struct watch *watch, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(watch->jobs[i].queue, watch->jobs[index].queue) == 0)
            return false;
    }
    return true;
}

static bool add_queue(struct redis *redis, struct redis_batch *batch, const struct watch *watch,
                      size_t first, usec_t until, usec_t now)
{
    const char *queue = watch->jobs[first].queue;
    struct redis_command *command = redis_batch_on_queue(redis, batch, SCRIPT_WATCH, queue);

    if (!command)
        return false;
    redis_command_moment(command, now);
    redis_command_moment(command, until);
    for (size_t i = first; i < watch->count; i++) {
        if (strcmp(watch->jobs[i].queue, queue) == 0)
            redis_command_uuid(command, &watch->jobs[i].id);
    }
    return true;
}

bool redis_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                 struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    if (watch->pools && !redis_pools_watch(redis, &batch, until))
        return error_no_memory(err);
    for (size_t i = 0; i < watch->count; i++) {
        if (is_first_of_queue(watch, i) && !add_queue(redis, &batch, watch, i, until, now))
            return error_no_memory(err);
    }
    redis_begin(redis);
    return redis_run(redis, &batch, err);
}
