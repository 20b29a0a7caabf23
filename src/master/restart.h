/*
 * restart.h - how long a process that ended waits for its successor.
 *
 * One that crashes now and then is replaced at once; one that cannot live must not become a storm
 * of forks, so it waits longer each time. A pure decision: no clock, no process.
 */
#ifndef MASTER_RESTART_H
#define MASTER_RESTART_H

#include "base/base.h"

#define RESTART_DELAY_MIN (100 * USEC_PER_MSEC)
#define RESTART_DELAY_MAX (30 * USEC_PER_SEC)
#define RESTART_LIFE      (10 * USEC_PER_SEC) /* whoever lived this long has proved that it can */

/* What one place in the process tree has seen. Zeroed: nothing yet. */
struct restart {
    bool has_died; /* not long ago */
    usec_t delay;  /* the last one since; 0: it did not have to wait */
};

/* How a process ended. */
struct death {
    usec_t lived;
    bool was_ready;
    bool had_job;      /* a worker with a job that it had started: the job's fault */
    bool was_recycled; /* a worker that ended by itself */
};

/* Notes the death, and returns how long to wait; 0: not at all. */
usec_t restart_delay(struct restart *restart, const struct death *death);

#endif
