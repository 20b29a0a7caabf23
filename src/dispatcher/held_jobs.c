/*
 * held_jobs.c - the jobs that this pool holds.
 */
#include "dispatcher/held_jobs.h"

#include "base/error.h"
#include "base/text.h"
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

void held_jobs_trim(struct held_jobs *jobs)
{
    for (struct held_job *held = jobs->spare, *next; held; held = next) {
        next = held->next_spare;
        held_job_free(held);
    }
    jobs->spare = NULL;
}

void held_jobs_done(struct held_jobs *jobs)
{
    for (size_t i = 0; jobs->by_entry && i < jobs->capacity; i++)
        held_job_free(jobs->by_entry[i]);
    held_jobs_trim(jobs);
    free(jobs->by_entry);
    *jobs = (struct held_jobs){0};
}

/* A damaged record may have a longer one than anybody could enqueue. */
static const char *copy_name(struct held_job *held, char place[JOB_NAME_MAX + 1], const char *name)
{
    const size_t size = strlen(name) + 1;

    if (size > JOB_NAME_MAX + 1)
        return arena_text(&held->arena, name);
    memcpy(place, name, size);
    return place;
}

/* What settling needs; the rest is the store's. The copy is blank. */
static void copy_job(struct held_job *held, const struct job *job)
{
    struct job *copy = &held->job;

    copy->id = job->id;
    copy->type = copy_name(held, held->type, job->type);
    copy->queue = copy_name(held, held->queue, job->queue);
    copy->encoding = job->encoding;
    copy->headers = arena_text(&held->arena, job->headers);
    copy->tags = tags_copy(job->tags, &held->arena);
    copy->timeout = job->timeout;
    copy->max_attempts = job->max_attempts;
    copy->max_stalls = job->max_stalls;
    copy->attempts = job->attempts;
    copy->stalls = job->stalls;
    copy->executions = job->executions;
    copy->on_dead_depth = job->on_dead_depth;
    copy->due = job->due;
    copy->created_at = job->created_at;
    copy->started_at = job->started_at;
    copy->token = job->token;
    copy->expires_at = job->expires_at;
    copy->ref = job->ref;
    copy->defect = arena_text(&held->arena, job->defect);
    copy->progress_percent = -1;
    copy->exit_code = JOB_NO_EXIT_CODE;
}

/* A name that is too long for its place is a damaged one, and rare. */
static const struct handler_config *
find_handler(struct held_jobs *jobs, const struct config *config, const struct held_job *held)
{
    if (held->job.type != held->type)
        return handler_match(config, held->job.type);
    if (jobs->last_type[0] == '\0' || !text_equal(jobs->last_type, held->type)) {
        jobs->last_handler = handler_match(config, held->type);
        memcpy(jobs->last_type, held->type, sizeof jobs->last_type);
    }
    return jobs->last_handler;
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

/* In no lease table; NULL when out of memory. */
static struct held_job *take_blank(struct held_jobs *jobs, enum held_state state)
{
    struct held_job *held = jobs->spare;

    if (held)
        jobs->spare = held->next_spare;
    else
        held = malloc(sizeof *held);
    if (!held)
        return NULL;
    memset(held, 0, offsetof(struct held_job, type));
    held->state = state;
    held->hold = HOLD_NONE;
    held->type[0] = held->queue[0] = '\0'; /* the rest of the names is for whoever copies them */
    return held;
}

struct held_job *held_job_new(struct held_jobs *jobs, const struct config *config,
                              const struct job *job)
{
    struct held_job *held = take_blank(jobs, HELD_RESERVED);

    if (!held)
        return NULL;
    copy_job(held, job);
    held->handler = find_handler(jobs, config, held);
    held->limits = limits_of(config, job, held->handler);
    if (!held->arena.failed)
        return held;
    held_jobs_give_back(jobs, held);
    return NULL;
}

struct held_job *held_job_new_stray(struct held_jobs *jobs, const struct held_lease *lease)
{
    struct held_job *held = take_blank(jobs, HELD_STRAY);

    if (!held)
        return NULL;
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

void held_jobs_give_back(struct held_jobs *jobs, struct held_job *held)
{
    assert(!held_job_has_hold(held));
    arena_done(&held->arena);
    held->next_spare = jobs->spare;
    jobs->spare = held;
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

bool held_jobs_have_waiting(const struct held_jobs *jobs, const struct lease_table *leases,
                            size_t count)
{
    const struct held_job *held;

    for (size_t i = 0; count > 0 && (held = held_jobs_next(jobs, &i));)
        count -= !held_job_is_concluded(held) &&
                 lease_table_state(leases, held->hold, NULL) == HOLD_HANDED;
    return count == 0;
}

static void count_one(struct held_jobs_census *census, const struct held_job *held,
                      enum hold_state state)
{
    const bool is_open = !held_job_is_concluded(held);

    census->concluded += held->state == HELD_CONCLUDED;
    census->waiting += state == HOLD_HANDED && is_open;
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
