/*
 * why_look.c - gathers what is to be known about a job that waits.
 */
#include "client/why_look.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "client/offers.h"
#include "client/pool_status.h"

#include <string.h>

/* Of these the present rate is told. */
#define DONE_SEEN 100

/* A look at one job. */
struct look {
    struct store *store;
    struct arena *arena;
    struct why_facts facts;
};

/* ---- pools ---- */

static void note_queue(const struct pool_status *status, const char *queue, struct why_pool *pool)
{
    struct error ignored;

    pool->serves = !status->queues; /* it does not say */
    for (size_t i = 0; status->queues && i < status->queue_count; i++) {
        const struct pool_queue *served = &status->queues[i];

        if (!text_equal(served->name, queue))
            continue;
        pool->serves = true;
        pool->max_running = served->max_running;
        if (!served->rate || !units_parse_rate(served->rate, &pool->rate, &ignored))
            pool->rate = (struct units_rate){0};
    }
}

static void note_handler(const struct pool_status *status, const char *type, struct why_pool *pool)
{
    const struct pool_handler *handler = pool_status_handler(status, type);

    pool->handles = handler || !status->handlers;
    for (size_t i = 0; handler && i < status->start_failure_count; i++) {
        const struct pool_start_failure *failure = &status->start_failures[i];

        if (!text_equal(failure->pattern, handler->pattern))
            continue;
        pool->start_error = failure->error ? failure->error : "";
        pool->start_since = failure->since;
        pool->next_try = failure->next_try;
    }
}

static struct why_pool see_pool(const struct pool *pool, const struct why_facts *facts,
                                struct arena *arena)
{
    const struct pool_status status = pool_status_read(pool->status, arena);
    struct why_pool seen = {
        .name = arena_text(arena, pool->name),
        .is_silent = pool_status_is_silent(&status, pool->beat_at, facts->now),
        .is_draining = text_equal(status.state, "draining"),
    };

    note_queue(&status, facts->job->queue, &seen);
    note_handler(&status, facts->job->type, &seen);
    return seen;
}

/* What a status says points into it: the copy is the arena's. */
static bool copy_status(struct pool *pool, struct arena *arena)
{
    unsigned char *copy = arena_alloc(arena, pool->status.length + 1);

    if (!copy)
        return false;
    if (pool->status.length > 0)
        memcpy(copy, pool->status.data, pool->status.length);
    pool->status.data = copy;
    return true;
}

static bool look_at_pools(struct look *look, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list pools = {0};

    if (!store_pools(look->store, &pools, err))
        return false;
    struct why_pool *seen = arena_alloc(look->arena, (pools.count + 1) * sizeof *seen);
    for (size_t i = 0; seen && i < pools.count; i++) {
        if (copy_status(&pools.items[i], look->arena))
            seen[look->facts.pool_count++] = see_pool(&pools.items[i], &look->facts, look->arena);
    }
    look->facts.pools = seen;
    return !look->arena->failed || error_no_memory(err);
}

/* The name that was most likely meant, if another one is close. */
static const char *keep_close(struct look *look, const char *close, const char *name)
{
    return close && !text_equal(close, name) ? arena_text(look->arena, close) : NULL;
}

/* For whoever mistyped the queue or the type. */
static bool look_at_offers(struct look *look, struct error *err)
{
    const struct job *job = look->facts.job;
    CLEANUP(offers_done) struct offers offers = {0};

    if (!offers_read(look->store, &offers, err))
        return false;
    look->facts.close_queue =
        keep_close(look, offers_closest_queue(&offers, job->queue), job->queue);
    look->facts.close_type = keep_close(look, offers_closest_type(&offers, job->type), job->type);
    return !look->arena->failed || error_no_memory(err);
}

/* ---- the queue ---- */

static bool look_at_queue(struct look *look, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};

    if (!store_stats(look->store, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct queue_stats *stats = &list.items[i];

        if (!text_equal(stats->queue, look->facts.job->queue))
            continue;
        look->facts.paused_at = stats->paused_at;
        if (stats->paused_by)
            look->facts.paused_by = arena_text(look->arena, stats->paused_by);
        look->facts.running = stats->jobs[JOB_RUNNING];
        look->facts.spent_until = stats->spent_until;
    }
    return !look->arena->failed || error_no_memory(err);
}

/* Those that started first; with a key, the one that has it. */
static bool look_at_running(struct look *look, const char *key, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct job_filter filter = {
        .by_state = true,
        .state = JOB_RUNNING,
        .queue = look->facts.job->queue,
        .key = key,
        .oldest_first = true,
        .brief = true,
        .limit = WHY_JOBS_MAX,
    };

    do {
        struct job_cursor next;

        if (!store_list(look->store, &filter, &jobs, &next, err))
            return false;
        filter.after = next;
    } while (key && jobs.count == 0 && filter.after.is_set);
    for (size_t i = 0; i < jobs.count && i < WHY_JOBS_MAX; i++)
        look->facts.running_jobs[look->facts.running_count++] = jobs.items[i].id;
    return true;
}

/* How many were done lately, and in how much time. */
static bool look_at_done(struct look *look, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const struct job_filter filter = {
        .by_state = true,
        .state = JOB_DONE,
        .queue = look->facts.job->queue,
        .brief = true,
        .limit = DONE_SEEN,
    };
    struct job_cursor next;

    if (!store_list(look->store, &filter, &jobs, &next, err))
        return false;
    if (jobs.count == 0)
        return true;
    look->facts.done = (int64_t)jobs.count;
    look->facts.done_in = look->facts.now - jobs.items[jobs.count - 1].ended_at;
    return true;
}

static bool look_around(struct look *look, struct error *err)
{
    return look_at_queue(look, err) && look_at_pools(look, err) && look_at_offers(look, err) &&
           look_at_running(look, NULL, err) && look_at_done(look, err) &&
           store_count_before(look->store, look->facts.job, WHY_BEFORE_MAX, &look->facts.before,
                              err);
}

static bool gather(struct look *look, struct error *err)
{
    const struct job *job = look->facts.job;

    if (job_state_has_ended(job->state))
        return true;
    if (job->state == JOB_RUNNING)
        return look_at_pools(look, err);
    if (job->state == JOB_BLOCKED)
        return look_at_running(look, job->key, err);
    return why_is_due_later(job, look->facts.now) || look_around(look, err);
}

bool why_look(struct store *store, const struct job *job, struct arena *arena, struct why *why_out,
              struct error *err)
{
    struct look look = {
        .store = store,
        .arena = arena,
        .facts = {.job = job, .now = store_now(store)},
    };

    if (!gather(&look, err))
        return error_prefix(err, "look why job waits");
    why_decide(&look.facts, why_out);
    return true;
}
