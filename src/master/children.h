/*
 * children.h - the processes of the pool: pid to role; start, reap, restart with backoff.
 */
#ifndef MASTER_CHILDREN_H
#define MASTER_CHILDREN_H

#include "base/base.h"
#include "master/overrun.h"
#include "master/pulse.h"
#include "master/restart.h"
#include "master/roles.h"
#include "process/loop.h"

#include <sys/types.h>

struct error;
struct generation;
struct master;

/* One place in the process tree, which one process after the other fills. */
struct child_seat {
    struct master *master;
    enum role_id role;
    int number;  /* of a worker, 1 and up; 0: a service */
    size_t slot; /* of the scoreboard */
    char name[32];

    /* Of the process that fills it now. A pid that is not 0 has not been waited for, and may be
     * signalled. */
    pid_t pid;
    uint32_t serial;
    int result_ring;               /* of a worker */
    usec_t started_at;             /* boot time */
    struct generation *generation; /* shared */
    bool is_ready;
    bool is_retiring; /* has been told to make room for the next one */
    int control;      /* owned; -1: none */
    struct loop_watch control_watch;

    struct pulse pulse;
    struct overrun overrun;
    bool was_ever_ready;
    struct restart restart;
    struct loop_timer restart_timer; /* runs while it waits for its next process */
};

struct children {
    struct child_seat *seats; /* owned; the services first, then the workers */
    size_t count;
    uint32_t last_serial;
};

/* The seats, all empty: for all the processes that a reload may ask for. */
bool children_init(struct master *master, struct error *err) MUST_CHECK;
void children_done(struct children *children);

/* Starts a process for every seat that is wanted. What cannot be started is tried again later. */
void children_start_all(struct master *master);

/* Tells the dispatcher all that is new for it, now or as soon as there is room. */
void children_brief(struct master *master);

/* Waits for all that has ended, and replaces what is to be replaced. */
void children_reap(struct master *master);

/* The seat of a service. */
struct child_seat *children_seat(struct master *master, enum role_id role);

/* Whether the config wants a process there. */
bool children_is_wanted(const struct child_seat *seat);

/* How many seats there are up to the last one that is wanted, or filled. */
size_t children_extent(const struct master *master);

/* How many workers run a job. */
size_t children_count_running(const struct master *master);

/* Starts now what waits for its restart. */
void children_hurry(struct child_seat *seat);

/* Starts a process where there is none, and none is waited for. */
void children_fill(struct child_seat *seat);

/* Tells it, once, to make room for the next one, if it runs. */
void children_retire(struct child_seat *seat);

/* Asks it for a sign of life. */
void children_ask(struct child_seat *seat);

/* Tells it to exit, if it runs. */
void children_dismiss(struct child_seat *seat);

/* If it runs. */
void children_kill(struct child_seat *seat);

#endif
