/*
 * state.h - what the dispatcher knows; its parts work on it.
 */
#ifndef DISPATCHER_STATE_H
#define DISPATCHER_STATE_H

#include "base/base.h"
#include "base/uuid.h"
#include "dispatcher/held_jobs.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queues.h"
#include "dispatcher/workers.h"
#include "process/loop.h"
#include "process/outage.h"
#include "store/timekeeper.h"

#define DISPATCHER_TOLD_TYPES 32

struct config;
struct process;
struct start;
struct store;

struct dispatcher {
    struct process *process;
    const struct config *config;

    struct store *store;     /* owned; NULL while it is away */
    struct timekeeper clock; /* of whichever store it is */
    struct outage outage;
    usec_t retry_at;   /* boot time; 0: the store answers */
    usec_t recover_at; /* boot time before which nobody looks again for what we hold */
    struct uuid_maker ids;

    struct held_jobs held_jobs;
    struct outbox outbox;
    struct queues queues;
    struct workers workers;
    struct start *starts; /* owned; one per handler */

    usec_t look_at; /* boot time at which it is looked what is aside */
    struct loop_timer look_timer;
    char told_types[DISPATCHER_TOLD_TYPES][JOB_NAME_MAX + 1]; /* without handler, and told */
    size_t told_count;

    usec_t last_exchange;          /* boot time at which it began */
    size_t quick, last_quick;      /* jobs that were quickly done since the last exchange, and the
                                    * one before */
    size_t last_count, last_bytes; /* what the last exchange brought, and its payloads */
    size_t unrung;                 /* tasks that were handed out without waking anybody yet */

    struct loop_watch bell, nudge;
    struct loop_timer scan_timer, check_timer, retry_timer, give_up_timer, pace_timer, limit_timer;
    int64_t turns;
    bool has_recovered;  /* knows what this pool holds */
    bool has_published;  /* producers by SQL or script know our limits */
    bool wants_recovery; /* what the store may have reserved for us is to be looked for once more */
    bool wants_audit;    /* look for results that never come */
    bool has_rung;       /* the bell */
    bool doubts_bell;    /* it has to be proved again that it is heard */
    bool has_flags;      /* leases were lost, or jobs are to be cancelled */
    bool has_halts;      /* somebody has to be told to stop */
    bool has_unsent;     /* a task waits for room in the socket */
    bool is_ready;       /* the master has been told */
    bool is_crowded;     /* jobs wait that can join none of those that run */
    bool is_pacing;      /* the next exchange waits a little, for more results */
    bool has_exchanged;  /* just now */
    bool is_paused, is_draining, is_stopping;
    usec_t give_up_at; /* boot time; 0: never */
    bool has_ended;
    int exit_code;
};

#endif
