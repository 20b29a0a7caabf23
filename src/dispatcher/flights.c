/*
 * flights.c - the jobs that this pool holds.
 */
#include "dispatcher/flights.h"

#include "base/error.h"
#include "config/config.h"
#include "config/handler_match.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool flights_init(struct flights *flights, size_t capacity, struct error *err)
{
    *flights = (struct flights){.by_entry = calloc(capacity, sizeof(struct flight *)),
                                .capacity = capacity};
    return flights->by_entry || error_no_memory(err);
}

void flights_done(struct flights *flights)
{
    for (size_t i = 0; flights->by_entry && i < flights->capacity; i++)
        flight_free(flights->by_entry[i]);
    free(flights->by_entry);
    *flights = (struct flights){0};
}

/* What settling needs; the rest is the store's. */
static void copy_job(struct flight *flight, const struct job *job)
{
    const size_t type_size = strlen(job->type) + 1;
    char *type = flight->names, *queue = flight->names + type_size;

    memcpy(type, job->type, type_size);
    memcpy(queue, job->queue, strlen(job->queue) + 1);
    flight->job = (struct job){
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
        .defect = arena_text(&flight->arena, job->defect),
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

struct flight *flight_new(const struct config *config, const struct job *job)
{
    struct flight *flight =
        calloc(1, sizeof *flight + strlen(job->type) + 1 + strlen(job->queue) + 1);

    if (!flight)
        return NULL;
    copy_job(flight, job);
    flight->handler = handler_match(config, job->type);
    flight->limits = limits_of(config, job, flight->handler);
    if (!flight->arena.failed)
        return flight;
    flight_free(flight);
    return NULL;
}

struct flight *flight_new_stray(const struct held_lease *lease)
{
    struct flight *flight = calloc(1, sizeof *flight);

    if (!flight)
        return NULL;
    flight->is_stray = true;
    flight->job.id = lease->job;
    flight->job.token = lease->token;
    return flight;
}

void flight_free(struct flight *flight)
{
    if (!flight)
        return;
    arena_done(&flight->arena);
    free(flight);
}

bool flight_keep_payload(struct flight *flight, struct bytes payload)
{
    if (!flight->job.payload.data)
        flight->job.payload = arena_bytes(&flight->arena, payload);
    return !flight->arena.failed;
}

void flights_put(struct flights *flights, struct flight *flight, struct hold hold)
{
    assert(!flights->by_entry[hold.entry] && !flight->has_hold);
    flight->has_hold = true;
    flight->hold = hold;
    flights->by_entry[hold.entry] = flight;
    flights->count++;
    if (flights->extent <= hold.entry)
        flights->extent = hold.entry + 1;
}

void flights_remove(struct flights *flights, struct flight *flight)
{
    assert(flights->by_entry[flight->hold.entry] == flight && flight->has_hold);
    flights->by_entry[flight->hold.entry] = NULL;
    flight->has_hold = false;
    if (--flights->count == 0)
        flights->extent = 0;
}

struct flight *flights_find(const struct flights *flights, struct hold hold)
{
    if (hold.entry >= flights->capacity)
        return NULL;
    struct flight *flight = flights->by_entry[hold.entry];
    return flight && flight->hold.generation == hold.generation ? flight : NULL;
}

struct flight *flights_next(const struct flights *flights, size_t *position)
{
    while (*position < flights->extent) {
        struct flight *flight = flights->by_entry[(*position)++];

        if (flight)
            return flight;
    }
    return NULL;
}

static void count_one(struct flights_census *census, const struct flight *flight,
                      enum hold_state state)
{
    census->concluded += flight->is_concluded && !flight->is_kept;
    if (state == HOLD_HANDED && !flight->is_concluded) {
        census->waiting++;
        if (census->oldest_waiting == 0 || flight->handed_at < census->oldest_waiting)
            census->oldest_waiting = flight->handed_at;
    }
    census->unknown += state == HOLD_UNKNOWN && !flight->is_concluded;
    if (state != HOLD_STARTED && state != HOLD_FINISHED)
        return;
    if (!flight->is_concluded && state == HOLD_STARTED)
        census->running++;
    if (flight->number > census->youngest_started)
        census->youngest_started = flight->number;
}

struct flights_census flights_count(const struct flights *flights, const struct lease_table *leases)
{
    struct flights_census census = {0};
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(flights, &i));)
        count_one(&census, flight, lease_table_state(leases, flight->hold, NULL));
    return census;
}
