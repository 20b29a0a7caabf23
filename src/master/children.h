/*
 * children.h - the processes of the pool: pid to role; start, reap, restart with backoff.
 *
 * It keeps the seats filled and tells what happens to the processes; what that means for the pool
 * is decided by whoever is told.
 */
#ifndef MASTER_CHILDREN_H
#define MASTER_CHILDREN_H

#include "base/base.h"
#include "master/ledger.h"
#include "master/roles.h"
#include "master/seat.h"

#include <sys/types.h>

struct error;
struct this_pool;

/* All that can happen to them. */
struct children_events {
    void (*ready)(void *context);
    void (*answered)(void *context, struct seat *seat); /* when it was asked for a sign of life */
    void (*deaf)(void *context, struct seat *seat); /* a worker starts nothing while jobs wait */
    void (*stopped)(void *context, struct seat *seat);
    void (*continued)(void *context, struct seat *seat);
    void (*wanted)(void *context, enum order_kind order, usec_t since); /* by way of the store */

    /* The seat still shows it; whoever is told has to call children_bury(). */
    void (*ended)(void *context, struct seat *seat, int status);

    /* A child that is none of our processes. */
    void (*stranger_ended)(void *context, pid_t pid, int status);
};

struct children {
    struct this_pool *pool;
    const struct children_events *events;
    void *context;      /* of the events */
    struct seat *seats; /* owned; the services first, then the workers */
    size_t count;
    uint32_t last_serial;
    struct ledger ledger;
};

/* The seats, all empty: for all the processes that a reload may ask for. */
bool children_init(struct children *children, struct this_pool *pool,
                   const struct children_events *events, void *context,
                   struct error *err) MUST_CHECK;
void children_done(struct children *children);

/* Starts a process for every seat that is wanted. What cannot be started is tried again later. */
void children_start_all(struct children *children);

/* Waits for all that has ended, was stopped or goes on, and tells it. */
void children_reap(struct children *children);

/* After the end of a process: empties its seat, and starts the next one if it is needed and the
 * config wants it, now or later. */
void children_bury(struct seat *seat, const struct worker_end *end, bool is_needed);

/* Starts now what waits for its restart. */
void children_hurry(struct seat *seat);

/* Starts a process where there is none, and none is waited for. */
void children_fill(struct seat *seat);

/* Nobody is started any more. */
void children_forget_restarts(struct children *children);

/* ---- the dispatcher ---- */

/* Tells it all that is new for it, now or as soon as there is room. */
void children_brief(struct children *children);

/* Nothing is left alive of any worker that has ended: it may be told. */
void children_note_cleared(struct children *children);

/* ---- questions ---- */

/* The seat of a service. */
struct seat *children_seat(const struct children *children, enum role_id role);

/* Whether all that are wanted have reported ready, at some time. */
bool children_were_ready(const struct children *children);

/* How many seats there are up to the last one that is wanted, or filled. */
size_t children_extent(const struct children *children);

/* How many workers run a job. */
size_t children_count_running(const struct children *children);

/* How many workers have read an older config. */
size_t children_count_old(const struct children *children);

#endif
