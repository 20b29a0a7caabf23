/*
 * given.c - ids that producers chose, in a cluster: the same one may be in another queue.
 */
#include "store/redis/ops/given.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <stdio.h>
#include <stdlib.h>

#define NONE SIZE_MAX

/* A group that is taken apart. */
struct parting {
    struct job *rest;         /* owned: the jobs that are enqueued */
    size_t *places;           /* owned: of each of those in the group */
    struct enqueued *answers; /* owned: what became of each of those */
    size_t count;
    size_t *firsts; /* owned: of each job of the group, where its id comes first; or NONE */
};

static void parting_done(struct parting *parting)
{
    free(parting->rest);
    free(parting->places);
    free(parting->answers);
    free(parting->firsts);
}

static bool is_twice(const struct job *first, const struct job *second)
{
    return uuid_compare(&first->id, &second->id) == 0 && !text_equal(first->queue, second->queue);
}

static size_t find_first(const struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_twice(&jobs[i], &jobs[n]))
            return i;
    return NONE;
}

/* One question for each other queue. */
static bool ask_others(struct redis *redis, const struct job *job, struct redis_batch *batch,
                       struct error *err)
{
    char key[JOB_NAME_MAX + 16];

    for (size_t i = 0; i < redis->queues.count; i++) {
        if (text_equal(redis->queues.items[i], job->queue))
            continue;
        snprintf(key, sizeof key, "{%s}:job", redis->queues.items[i]);
        struct redis_command *command = redis_batch_plain(redis, batch, "HEXISTS", key, false);
        if (!command)
            return error_no_memory(err);
        redis_command_uuid(command, &job->id);
    }
    return batch->count == 0 || redis_run(redis, batch, err);
}

static bool is_elsewhere(struct redis *redis, const struct job *job, bool *found_out,
                         struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *found_out = false;
    if (!ask_others(redis, job, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++)
        *found_out = *found_out || redis_reply_int(batch.items[i].reply) == 1;
    return true;
}

static bool answer_existing(struct store *store, const struct job *job, struct enqueued *out,
                            struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    const bool is_there = redis_get(store, &job->id, &found, err);

    if (!is_there && err->code != TH_E_NOT_FOUND)
        return false;
    *out = (struct enqueued){
        .id = job->id, .state = is_there ? found.items[0].state : JOB_DONE, .existed = true};
    return true;
}

/* Answers it, or puts it to the rest. */
static bool part(struct store *store, const struct job *jobs, size_t n, struct parting *parting,
                 struct enqueued *enqueued_out, struct error *err)
{
    bool found = false;

    parting->firsts[n] = jobs[n].id_is_given ? find_first(jobs, n) : NONE;
    if (parting->firsts[n] != NONE)
        return true;
    if (jobs[n].id_is_given && !is_elsewhere(redis_of(store), &jobs[n], &found, err))
        return false;
    if (found)
        return answer_existing(store, &jobs[n], &enqueued_out[n], err);
    parting->rest[parting->count] = jobs[n];
    parting->rest[parting->count].id_is_given = false;
    parting->places[parting->count++] = n;
    return true;
}

static bool parting_init(struct parting *parting, size_t count, struct error *err)
{
    parting->rest = calloc(count, sizeof *parting->rest);
    parting->places = calloc(count, sizeof *parting->places);
    parting->answers = calloc(count, sizeof *parting->answers);
    parting->firsts = calloc(count, sizeof *parting->firsts);
    return (parting->rest && parting->places && parting->answers && parting->firsts) ||
           error_no_memory(err);
}

/* The answers of the rest go to their places, and then to those that came twice. */
static void join(const struct parting *parting, size_t count, struct enqueued *enqueued_out)
{
    for (size_t i = 0; i < parting->count; i++)
        enqueued_out[parting->places[i]] = parting->answers[i];
    for (size_t i = 0; i < count; i++) {
        if (parting->firsts[i] == NONE)
            continue;
        enqueued_out[i] = enqueued_out[parting->firsts[i]];
        enqueued_out[i].existed = true;
        enqueued_out[i].updated = false;
    }
}

bool redis_given_any(const struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].id_is_given)
            return true;
    return false;
}

/* Which of the rest it was, in the whole group. */
static size_t place_of(const struct parting *parting, size_t nth, size_t count)
{
    return nth < parting->count ? parting->places[nth] : count;
}

bool redis_given_enqueue(struct store *store, const struct enqueue_group *group, usec_t now,
                         bool (*enqueue)(struct store *store, const struct enqueue_group *group,
                                         usec_t now, size_t *at_fault_out, struct error *err),
                         size_t *at_fault_out, struct error *err)
{
    CLEANUP(parting_done) struct parting parting = {0};
    size_t nth;

    redis_begin(redis_of(store));
    if (!parting_init(&parting, group->count, err) || !redis_queues_load(redis_of(store), err))
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (!part(store, group->jobs, i, &parting, group->enqueued_out, err))
            return false;
    const struct enqueue_group rest = {
        .jobs = parting.rest, .count = parting.count, .enqueued_out = parting.answers};
    nth = rest.count;
    if (rest.count > 0 && !enqueue(store, &rest, now, &nth, err)) {
        *at_fault_out = place_of(&parting, nth, group->count);
        return false;
    }
    join(&parting, group->count, group->enqueued_out);
    return true;
}
