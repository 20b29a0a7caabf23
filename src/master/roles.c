/*
 * roles.c - the table of processes.
 */
#include "master/roles.h"

#include "api/api.h"
#include "browse/browse.h"
#include "config/config.h"
#include "dispatcher/dispatcher.h"
#include "gate/gate.h"
#include "periodic/heartbeater.h"
#include "periodic/reaper.h"
#include "periodic/retrier.h"
#include "periodic/scheduler.h"
#include "worker/worker.h"

#define WORKERS_MAX  1024 /* as pool.num_workers has it */
#define WORKERS_MORE 16   /* a small pool may grow by this many, a large one to twice its size */

#define HOLDS_MIN        2048 /* jobs held beside those of the workers */
#define HOLDS_PER_WORKER 4

#define HOLDS_MAX ((size_t)1 << 20) /* as the lease table has it */

#define JOBS_MAX  1000 /* as handlers.X.concurrency has it */
#define JOBS_MORE 64   /* a resident may come to have this many, or twice as many as it had */

#define RINGS_MIN  16 /* beside one for each worker */
#define RINGS_MORE 64 /* or as many again, up to this */

static int reaper_instances(const struct config *config)
{
    return config->pool.enable_reaper ? 1 : 0;
}

static int desk_instances(const struct config *config)
{
    return config->has_http ? 1 : 0;
}

static int worker_instances(const struct config *config)
{
    return config->pool.num_workers;
}

/* clang-format off */
static const struct role roles[ROLES] = {
    [ROLE_DISPATCHER]  = {"dispatcher",  dispatcher_main,  .store = true, .hands_out = true, .nudge = true, .due = true},
    [ROLE_HEARTBEATER] = {"heartbeater", heartbeater_main, .store = true, .nudge = true},
    [ROLE_SCHEDULER]   = {"scheduler",   scheduler_main,   .store = true, .due = true},
    [ROLE_RETRIER]     = {"retrier",     retrier_main,     .store = true, .due = true},
    [ROLE_REAPER]      = {"reaper",      reaper_main,      .store = true, .instances = reaper_instances},
    [ROLE_GATE]        = {"gate",        gate_main,        .store = true, .peer = PEER_GATE, .instances = desk_instances},
    [ROLE_BROWSE]      = {"browse",      browse_main,      .store = true, .peer = PEER_BROWSE, .instances = desk_instances},
    [ROLE_HTTP]        = {"http",        api_main,         .peer = PEER_HTTP, .is_door = true, .door = DOOR_HTTP, .instances = desk_instances},
    [ROLE_WORKER]      = {"worker",      worker_main,      .works = true, .nudge = true, .is_numbered = true, .instances = worker_instances},
};
/* clang-format on */

const struct role *roles_get(enum role_id id)
{
    return &roles[id];
}

unsigned roles_doors(void)
{
    unsigned doors = 0;

    for (enum role_id id = 0; id < ROLES; id++) {
        if (roles[id].is_door)
            doors |= 1U << roles[id].door;
    }
    return doors;
}

int roles_instances(enum role_id id, const struct config *config)
{
    return roles[id].instances ? roles[id].instances(config) : 1;
}

int roles_seats(enum role_id id, const struct config *config)
{
    const int now = roles_instances(id, config);

    if (!roles[id].is_numbered)
        return 1;
    const int later = now < WORKERS_MORE ? now + WORKERS_MORE : 2 * now;
    return later < WORKERS_MAX ? later : WORKERS_MAX;
}

static size_t most_jobs(const struct config *config)
{
    int most = 1;

    for (size_t i = 0; i < config->handler_count; i++)
        most = config->handlers[i].concurrency > most ? config->handlers[i].concurrency : most;
    return (size_t)most;
}

size_t roles_jobs(const struct config *config)
{
    const size_t later = 2 * most_jobs(config);

    if (later > JOBS_MAX)
        return JOBS_MAX;
    return later > JOBS_MORE ? later : JOBS_MORE;
}

size_t roles_holds(const struct config *config)
{
    const size_t seats = (size_t)roles_seats(ROLE_WORKER, config);
    const size_t holds = HOLDS_MIN + (HOLDS_PER_WORKER + most_jobs(config) - 1) * seats;

    return holds < HOLDS_MAX ? holds : HOLDS_MAX;
}

size_t roles_result_rings(const struct config *config)
{
    const size_t seats = (size_t)roles_seats(ROLE_WORKER, config);

    return seats + RINGS_MIN + (seats < RINGS_MORE ? seats : RINGS_MORE);
}
