/*
 * meters.c - what this pool has done since it was started.
 */
#include "process/meters.h"

#include "base/clock.h"
#include "base/error.h"
#include "process/meters_inside.h"
#include "process/shared_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would stay locked when its holder is killed");

#define MSEC(n) ((usec_t)((n)*USEC_PER_MSEC))
#define SEC(n)  ((usec_t)((n)*USEC_PER_SEC))

/* clang-format off */
const usec_t meters_bounds[METERS_BOUNDS] = {
    MSEC(1), MSEC(2.5), MSEC(5), MSEC(10), MSEC(25), MSEC(50), MSEC(100), MSEC(250), MSEC(500),
    SEC(1), SEC(2.5), SEC(5), SEC(10), SEC(30), SEC(60), SEC(120), SEC(300), SEC(600), SEC(1800),
    SEC(3600),
};

const int meters_statuses[METERS_STATUSES] = {
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 429, 431, 500, 503,
};
/* clang-format on */

/* ---- the mapping ---- */

static bool map(size_t size, void **part_out, struct error *err)
{
    unsigned char *memory;

    if (!shared_memory_map(shared_memory_pages(size), "the meters", &memory, err))
        return false;
    *part_out = memory;
    return true;
}

static void unmap(void *part, size_t size)
{
    if (part)
        munmap(part, shared_memory_pages(size));
}

bool meters_open(struct meters **meters_out, struct error *err)
{
    struct meters *meters = calloc(1, sizeof *meters);
    void *jobs = NULL, *services = NULL, *doors = NULL;

    if (!meters)
        return error_no_memory(err);
    const bool mapped = map(sizeof *meters->jobs, &jobs, err) &&
                        map(sizeof *meters->services, &services, err) &&
                        map(sizeof *meters->doors, &doors, err);
    *meters = (struct meters){jobs, services, doors};
    if (!mapped)
        meters_close(&meters);
    *meters_out = meters;
    return mapped;
}

void meters_close(struct meters **meters)
{
    if (!*meters)
        return;
    unmap((*meters)->jobs, sizeof *(*meters)->jobs);
    unmap((*meters)->services, sizeof *(*meters)->services);
    unmap((*meters)->doors, sizeof *(*meters)->doors);
    free(*meters);
    *meters = NULL;
}

bool meters_restrict(struct meters *meters, struct error *err)
{
    if (munmap(meters->jobs, shared_memory_pages(sizeof *meters->jobs)) ||
        munmap(meters->services, shared_memory_pages(sizeof *meters->services)) ||
        munmap(meters->doors, shared_memory_pages(sizeof *meters->doors)))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the meters");
    *meters = (struct meters){NULL, NULL, NULL};
    return true;
}

bool meters_restrict_door(struct meters *meters, struct error *err)
{
    if (mprotect(meters->jobs, shared_memory_pages(sizeof *meters->jobs), PROT_READ) ||
        mprotect(meters->services, shared_memory_pages(sizeof *meters->services), PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the meters");
    return true;
}

/* ---- counting ---- */

/* By the only writer of it. */
static void add(meter *count, uint64_t more)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* By one of several. */
static void add_with_others(meter *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

/* Most of what is measured is short. */
static size_t bucket_of(usec_t duration)
{
    size_t i = 0;

    while (i < METERS_BOUNDS && duration > meters_bounds[i])
        i++;
    return i;
}

static void observe(struct meter_histogram *histogram, usec_t duration)
{
    add(&histogram->buckets[bucket_of(duration)], 1);
    add(&histogram->sum, duration > 0 ? (uint64_t)duration : 0);
}

void meters_add_run(struct meters *meters, const struct meters_run *run)
{
    if (!meters)
        return;
    struct meters_jobs *jobs = meters->jobs;
    struct meters_type *type = &jobs->by_type[name_table_place(&jobs->types, run->type)];
    const struct recent_run recent = {
        .now = run->now,
        .wall = run->wall,
        .wait = run->wait,
        .is_done = run->outcome == RUN_DONE,
        .has_failed = run->outcome == RUN_RETRY || run->outcome == RUN_DEAD,
    };

    add(&type->attempts[run->outcome], 1);
    observe(&type->run, run->wall);
    observe(&jobs->wait[name_table_place(&jobs->queues, run->queue)], run->wait);
    recent_runs_add(&type->recent, &recent);
}

void meters_add_refusal(struct meters *meters)
{
    if (meters)
        add(&meters->jobs->refusals, 1);
}

void meters_add_lost_lease(struct meters *meters)
{
    if (meters)
        add(&meters->services->lost_leases, 1);
}

void meters_add_restart(struct meters *meters, const char *process)
{
    if (!meters)
        return;
    struct meters_services *services = meters->services;

    add(&services->restarts[name_table_place(&services->processes, process)], 1);
}

void meters_add_enqueued(struct meters *meters, const char *queue, size_t count)
{
    if (!meters)
        return;
    struct meters_services *services = meters->services;

    add(&services->enqueued[name_table_place(&services->queues, queue)], count);
}

void meters_add_store_work(struct meters *meters, enum store_work work, usec_t begun_at)
{
    const usec_t took = clock_boot() - begun_at;

    if (!meters)
        return;
    struct meter_histogram *histogram = &meters->services->store[work];

    add_with_others(&histogram->buckets[bucket_of(took)], 1);
    add_with_others(&histogram->sum, (uint64_t)took);
}

void meters_add_store_error(struct meters *meters, enum th_error_code code)
{
    if (meters)
        add_with_others(&meters->services->store_errors[code], 1);
}

static size_t status_place(int status)
{
    size_t i = 0;

    while (meters_statuses[i] != 0 && meters_statuses[i] != status)
        i++;
    return i;
}

void meters_add_request(struct meters *meters, const char *route, int status, usec_t took)
{
    if (!meters)
        return;
    struct meters_doors *doors = meters->doors;
    const size_t place = name_table_place(&doors->routes, route ? route : "other");

    add(&doors->requests[place][status_place(status)], 1);
    observe(&doors->took[place], took);
}

/* ---- reading ---- */

bool meters_next_recent(const struct meters *meters, usec_t now, size_t *position,
                        const char **type_out, struct recent_sum *sum_out)
{
    while (meters && *position < NAME_TABLE_PLACES) {
        const size_t place = (*position)++;

        *type_out = name_table_name(&meters->jobs->types, place);
        if (*type_out && recent_runs_read(&meters->jobs->by_type[place].recent, now, sum_out))
            return true;
    }
    return false;
}
