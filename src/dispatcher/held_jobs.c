/*
 * held_jobs.c - the jobs that this pool holds.
 */
#include "dispatcher/held_jobs.h"

#include "base/error.h"
#include "config/config.h"
#include "config/handler_match.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const bool legal[HELD_STATES][HELD_STATES] = {
    [HELD_RESERVED]  = {[HELD_BEHIND] = true, [HELD_UNSENT] = true, [HELD_IN_RING] = true,
                        [HELD_SENT] = true, [HELD_CONCLUDED] = true},
    [HELD_BEHIND]    = {[HELD_UNSENT] = true, [HELD_IN_RING] = true, [HELD_SENT] = true,
                        [HELD_CONCLUDED] = true},
    [HELD_UNSENT]    = {[HELD_IN_RING] = true, [HELD_SENT] = true, [HELD_CONCLUDED] = true},
    [HELD_IN_RING]   = {[HELD_CONCLUDED] = true},
    [HELD_SENT]      = {[HELD_CONCLUDED] = true},
    [HELD_CONCLUDED] = {[HELD_KEPT] = true},
};
/* clang-format on */

bool held_state_may_change(enum held_state from, enum held_state to)
{
    return legal[from][to];
}

void held_job_move(struct held_job *held, enum held_state to)
{
    assert(held_state_may_change(held->state, to));
    held->state = to;
}

bool held_jobs_init(struct held_jobs *jobs, size_t capacity, struct error *err)
{
    *jobs = (struct held_jobs){.by_entry = calloc(capacity, sizeof(struct held_job *)),
                               .capacity = capacity};
    return jobs->by_entry || error_no_memory(err);
}

void held_jobs_done(struct held_jobs *jobs)
{
    for (size_t i = 0; jobs->by_entry && i < jobs->capacity; i++)
        held_job_free(jobs->by_entry[i]);
    free(jobs->by_entry);
    *jobs = (struct held_jobs){0};
}

/* What settling needs; the rest is the store's. */
static void copy_job(struct held_job *held, const struct job *job)
{
    const size_t type_size = strlen(job->type) + 1;
    char *type = held->names, *queue = held->names + type_size;

    memcpy(type, job->type, type_size);
    memcpy(queue, job->queue, strlen(job->queue) + 1);
    held->job = (struct job){
        .id = job->id,
        .type = type,
        .queue = queue,
        .encoding = job->encoding,
        .timeout = job->timeout,
        .max_attempts = job->max_attempts,
        .max_stalls = job->max_stalls,
        .attempts = job->attempts,
        .stalls = job->stalls,
        .executions = job->executions,
        .on_dead_depth = job->on_dead_depth,
        .created_at = job->created_at,
        .started_at = job->started_at,
        .token = job->token,
        .expires_at = job->expires_at,
        .ref = job->ref,
        .defect = arena_text(&held->arena, job->defect),
        .progress_percent = -1,
        .exit_code = JOB_NO_EXIT_CODE,
    };
}

static struct job_limits limits_of(const struct config *config, const struct job *job,
                                   const struct handler_config *handler)
{
    const struct job_limits defaults = config_default_limits(config);

    if (!handler)
        return job_limits_resolve(job, NULL, &defaults);
    const struct job_limits own = config_handler_limits(handler);
    return job_limits_resolve(job, &own, &defaults);
}

struct held_job *held_job_new(const struct config *config, const struct job *job)
{
    struct held_job *held =
        calloc(1, sizeof *held + strlen(job->type) + 1 + strlen(job->queue) + 1);

    if (!held)
        return NULL;
    held->hold = HOLD_NONE;
    copy_job(held, job);
    held->handler = handler_match(config, job->type);
    held->limits = limits_of(config, job, held->handler);
    if (!held->arena.failed)
        return held;
    held_job_free(held);
    return NULL;
}

struct held_job *held_job_new_stray(const struct held_lease *lease)
{
    struct held_job *held = calloc(1, sizeof *held);

    if (!held)
        return NULL;
    held->state = HELD_STRAY;
    held->hold = HOLD_NONE;
    held->job.id = lease->job;
    held->job.token = lease->token;
    return held;
}

void held_job_free(struct held_job *held)
{
    if (!held)
        return;
    arena_done(&held->arena);
    free(held);
}

bool held_job_keep_payload(struct held_job *held, struct bytes payload)
{
    if (!held->job.payload.data)
        held->job.payload = arena_bytes(&held->arena, payload);
    return !held->arena.failed;
}

void held_jobs_put(struct held_jobs *jobs, struct held_job *held, struct hold hold)
{
    assert(!jobs->by_entry[hold.entry] && !held_job_has_hold(held));
    held->hold = hold;
    jobs->by_entry[hold.entry] = held;
    jobs->count++;
    if (jobs->extent <= hold.entry)
        jobs->extent = hold.entry + 1;
}

void held_jobs_remove(struct held_jobs *jobs, struct held_job *held)
{
    assert(held_job_has_hold(held) && jobs->by_entry[held->hold.entry] == held);
    jobs->by_entry[held->hold.entry] = NULL;
    held->hold = HOLD_NONE;
    if (--jobs->count == 0)
        jobs->extent = 0;
}

struct held_job *held_jobs_find(const struct held_jobs *jobs, struct hold hold)
{
    if (hold.entry >= jobs->capacity)
        return NULL;
    struct held_job *held = jobs->by_entry[hold.entry];
    return held && held->hold.generation == hold.generation ? held : NULL;
}

struct held_job *held_jobs_next(const struct held_jobs *jobs, size_t *position)
{
    while (*position < jobs->extent) {
        struct held_job *held = jobs->by_entry[(*position)++];

        if (held)
            return held;
    }
    return NULL;
}

static void count_one(struct held_jobs_census *census, const struct held_job *held,
                      enum hold_state state)
{
    const bool is_open = !held_job_is_concluded(held);

    census->concluded += held->state == HELD_CONCLUDED;
    if (state == HOLD_HANDED && is_open) {
        census->waiting++;
        if (census->oldest_waiting == 0 || held->handed_at < census->oldest_waiting)
            census->oldest_waiting = held->handed_at;
    }
    census->unknown += state == HOLD_UNKNOWN && is_open;
    if (state != HOLD_STARTED && state != HOLD_FINISHED)
        return;
    if (is_open && state == HOLD_STARTED)
        census->running++;
    if (held->number > census->youngest_started)
        census->youngest_started = held->number;
}

struct held_jobs_census held_jobs_count(const struct held_jobs *jobs,
                                        const struct lease_table *leases)
{
    struct held_jobs_census census = {0};
    struct held_job *held;

    for (size_t i = 0; (held = held_jobs_next(jobs, &i));)
        count_one(&census, held, lease_table_state(leases, held->hold, NULL));
    return census;
}
