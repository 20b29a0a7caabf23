/*
 * held.c - the running jobs of a pool.
 *
 * Leases are gone through a part at a time. What a pool holds is changed by nobody else while its
 * leases hold, so the parts fit together; a job that comes twice because the table grew meanwhile
 * is dropped.
 */
#include "base/cleanup.h"
#include "store/defect.h"
#include "store/redis/codec/record.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 3 /* id, lease, record */

/* Cursors: see scripts/held.lua. */
#define BEGIN "b0"
#define OVER  "0"

static bool read_job(const char *queue, redisReply *const *fields, struct job_list *jobs_out,
                     struct error *err)
{
    struct job *job = job_list_add(jobs_out);

    if (!job)
        return error_no_memory(err);
    bool read = redis_record_job(fields[2], &jobs_out->arena, job) &&
                redis_record_lease(fields[1], &jobs_out->arena, job);
    if (!redis_reply_uuid(fields[0], &job->id))
        job->id = (struct uuid){{0}};
    job->defect = read ? defect_of(job) : DEFECT_UNREADABLE;
    job->queue = queue;
    job->state = JOB_RUNNING;
    return true;
}

/* One part; the cursor is that of the next one, OVER after the last. */
static bool read_part(struct redis *redis, const char *queue, const char *pool, char cursor[24],
                      struct job_list *jobs_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_HELD, queue);

    if (!command)
        return error_no_memory(err);
    redis_command_text(command, pool);
    redis_command_text(command, cursor);
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    snprintf(cursor, 24, "%s", reply->elements > 0 ? reply->element[0]->str : OVER);
    for (size_t i = 1; i + FIELDS <= reply->elements; i += FIELDS)
        if (!read_job(queue, &reply->element[i], jobs_out, err))
            return false;
    return true;
}

static bool read_queue(struct redis *redis, const char *queue, const char *pool,
                       struct job_list *jobs_out, struct error *err)
{
    const char *name = arena_text(&jobs_out->arena, queue);
    char cursor[24] = BEGIN;

    do {
        if (!read_part(redis, name, pool, cursor, jobs_out, err))
            return false;
    } while (strcmp(cursor, OVER) != 0);
    return true;
}

static int by_age(const void *a, const void *b)
{
    const struct job *first = a, *second = b;

    if (first->created_at != second->created_at)
        return first->created_at < second->created_at ? -1 : 1;
    if (first->ref != second->ref)
        return first->ref < second->ref ? -1 : 1;
    return uuid_compare(&first->id, &second->id);
}

static void drop_doubles(struct job_list *jobs, size_t from)
{
    size_t kept = from;

    for (size_t i = from; i < jobs->count; i++)
        if (i == from || uuid_compare(&jobs->items[i].id, &jobs->items[kept - 1].id) != 0)
            jobs->items[kept++] = jobs->items[i];
    jobs->count = kept;
}

bool redis_held(struct store *store, const char *pool, struct job_list *jobs_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    size_t before = jobs_out->count;

    redis_begin(redis);
    if (!redis_queues_load(redis, err))
        return false;
    for (size_t i = 0; i < redis->queues.count; i++)
        if (!read_queue(redis, redis->queues.items[i], pool, jobs_out, err))
            return false;
    if (jobs_out->count > before)
        qsort(jobs_out->items + before, jobs_out->count - before, sizeof *jobs_out->items, by_age);
    drop_doubles(jobs_out, before);
    return !jobs_out->arena.failed || error_no_memory(err);
}
