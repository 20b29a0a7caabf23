/*
 * enqueue_many.c - groups of jobs come in together: a command for each, in one round trip.
 *
 * A group that takes more than one command (in a cluster, one for several queues or with ids that
 * its producer chose) goes by itself, between those before it and those after it.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/redis/ops/given.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <stdlib.h>

/* Groups that go together. */
struct crowd {
    struct redis *redis;
    struct enqueue_group *const *groups;
    size_t count;
    usec_t now;
    bool simple; /* all of them are single jobs that enqueue_one.lua can take */
};

static bool has_one_queue(const struct enqueue_group *group)
{
    for (size_t i = 1; i < group->count; i++)
        if (!text_equal(group->jobs[i].queue, group->jobs[0].queue))
            return false;
    return true;
}

static bool takes_one_command(const struct redis *redis, const struct enqueue_group *group)
{
    return !redis->slot_nodes ||
           (has_one_queue(group) && !redis_given_any(group->jobs, group->count));
}

static size_t count_together(const struct redis *redis, struct enqueue_group *const *groups,
                             size_t count)
{
    size_t n = 0;

    while (n < count && takes_one_command(redis, groups[n]))
        n++;
    return n;
}

/* One script for all: were one of two not loaded yet, its commands would be carried out last. */
static bool are_simple(struct enqueue_group *const *groups, size_t count, usec_t now)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i]->count != 1 || !redis_enqueue_is_simple(groups[i]->jobs, now))
            return false;
    return true;
}

static bool list_queues(const struct crowd *crowd, struct error *err)
{
    for (size_t i = 0; i < crowd->count; i++)
        for (size_t j = 0; j < crowd->groups[i]->count; j++)
            if (!redis_queues_add(crowd->redis, &crowd->groups[i]->jobs[j].queue, 1, err))
                return false;
    return true;
}

static bool ask(const struct crowd *crowd, struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < crowd->count; i++) {
        const struct enqueue_group *group = crowd->groups[i];
        bool added = crowd->simple
                         ? redis_enqueue_add_one(crowd->redis, batch, group->jobs, crowd->now, err)
                         : redis_enqueue_add_group(crowd->redis, batch, group, crowd->now, err);
        if (!added)
            return false;
    }
    return redis_run_parts(crowd->redis, batch, err);
}

/* Its part of the cluster does not answer, or its script has failed. */
static void lose(struct enqueue_group *group, const struct redis_batch *batch, size_t n)
{
    *group->err = batch->failure;
    group->err->code = batch->items[n].outcome;
    enqueue_group_refuse(group, group->count);
}

static void hear(const struct crowd *crowd, const struct redis_batch *batch, size_t n)
{
    struct enqueue_group *group = crowd->groups[n];
    const redisReply *reply = batch->items[n].reply;
    size_t at_fault = group->count;

    if (!reply)
        lose(group, batch, n);
    else if (!crowd->simple && !redis_enqueue_hear_group(reply, group, &at_fault, group->err))
        enqueue_group_refuse(group, at_fault);
    else if (crowd->simple && reply->integer == 1)
        group->enqueued_out[0] = (struct enqueued){.id = group->jobs[0].id, .state = JOB_READY};
    else if (crowd->simple) /* it takes a closer look */
        enqueue_groups_singly(&crowd->redis->base, &group, 1, crowd->now, redis_enqueue_group);
}

static void doubt(const struct crowd *crowd, const struct error *err)
{
    for (size_t i = 0; i < crowd->count; i++) {
        struct enqueue_group *group = crowd->groups[i];
        if (group->verdict != TH_OK)
            continue;
        *group->err = *err;
        enqueue_group_refuse(group, group->count);
    }
}

static void replicate(const struct crowd *crowd)
{
    AUTO_FREE const char **queues = calloc(crowd->count, sizeof *queues);
    const bool anywhere = !crowd->redis->slot_nodes; /* one connection has written all of it */
    struct error err;
    size_t count = 0;

    for (size_t i = 0; queues && i < crowd->count; i++)
        if (crowd->groups[i]->verdict == TH_OK && !(anywhere && count > 0))
            queues[count++] = crowd->groups[i]->jobs[0].queue;
    if (!queues)
        error_set(&err, TH_E_UNCERTAIN, "stored, but out of memory");
    if (!queues || !redis_enqueue_replicate(crowd->redis, queues, count, &err))
        doubt(crowd, &err);
}

static bool enqueue_together(const struct crowd *crowd, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    redis_begin(crowd->redis);
    if (!list_queues(crowd, err) || !ask(crowd, &batch, err))
        return false;
    for (size_t i = 0; i < crowd->count; i++)
        hear(crowd, &batch, i);
    if (crowd->redis->address.wait_replicas > 0)
        replicate(crowd);
    return true;
}

/* Those that go together from the first one on, or it alone. False: they have no answer. */
static bool enqueue_some(struct redis *redis, struct enqueue_group *const *groups, size_t count,
                         usec_t now, size_t *taken_out, struct error *err)
{
    const size_t together = count_together(redis, groups, count);
    const struct crowd crowd = {redis, groups, together, now, are_simple(groups, together, now)};

    *taken_out = together > 1 ? together : 1;
    if (together > 1) {
        if (enqueue_together(&crowd, err))
            return true;
        doubt(&crowd, err);
        return false;
    }
    enqueue_groups_singly(&redis->base, groups, 1, now, redis_enqueue_group);
    if (groups[0]->verdict != TH_E_UNAVAILABLE && groups[0]->verdict != TH_E_UNCERTAIN)
        return true;
    *err = *groups[0]->err;
    return false;
}

/* Another part of a cluster may answer, as long as there is time. */
bool redis_enqueue(struct store *store, struct enqueue_group *const *groups, size_t count,
                   usec_t now, struct error *err)
{
    struct redis *redis = redis_of(store);
    const usec_t end = store_deadline(store);
    size_t done = 0, taken;

    while (done < count) {
        const bool answered = enqueue_some(redis, groups + done, count - done, now, &taken, err);
        done += taken;
        if (!answered && (!redis->slot_nodes || clock_boot() >= end))
            break;
    }
    enqueue_groups_give_up(groups + done, count - done, err);
    return true;
}
