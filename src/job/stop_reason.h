/*
 * stop_reason.h - why a run was stopped before it ended by itself, and what comes of its job.
 *
 *   reason       asked for by                                      the job
 *   timeout      worker/execution.c, call.c; master/overrun.c      failed
 *   cancel       somebody, told by the heartbeat                   cancelled
 *   lost_lease   the heartbeat, or its silence                     released, if it is still ours
 *   drain        the pool, which goes down                         released
 *   company      worker/resident.c, for another job of the program released
 *   stopped      master/pulse.c: SIGSTOP had stopped the worker    failed
 *
 * The dispatcher tells workers (struct halt), workers tell what they run, and the master says why
 * it killed a worker.
 */
#ifndef JOB_STOP_REASON_H
#define JOB_STOP_REASON_H

#include "job/outcome.h"

enum stop_reason {
    STOP_NONE, /* it was not stopped */
    STOP_TIMEOUT,
    STOP_CANCEL,     /* somebody asked for it */
    STOP_LOST_LEASE, /* the job may run elsewhere by now */
    STOP_DRAIN,      /* the pool goes down */
    STOP_COMPANY,    /* another job of the same program had to be stopped */
    STOP_FROZEN,     /* a signal had stopped its worker */
};

#define STOP_REASONS (STOP_FROZEN + 1)

/* As the log has it. */
const char *stop_reason_name(enum stop_reason reason);

/* What comes of a run that did not end well: by itself, or because it was stopped. */
enum outcome_kind stop_reason_outcome(enum stop_reason reason);

#endif
