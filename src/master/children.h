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
    usec_t started_at; /* boot time */
    bool is_ready;
    int control; /* owned; -1: none */
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

/* The seats, all empty. */
bool children_init(struct master *master, struct error *err) MUST_CHECK;
void children_done(struct children *children);

/* Starts a process for every seat. What cannot be started is tried again later. */
void children_start_all(struct master *master);

/* Waits for all that has ended, and replaces what is to be replaced. */
void children_reap(struct master *master);

/* The seat of a service; NULL when this pool has none of it. */
struct child_seat *children_seat(struct master *master, enum role_id role);

/* How many workers run a job. */
size_t children_count_running(const struct master *master);

/* Starts now what waits for its restart. */
void children_hurry(struct child_seat *seat);

/* Tells it to exit, if it runs. */
void children_dismiss(struct child_seat *seat);

/* If it runs. */
void children_kill(struct child_seat *seat);

#endif
