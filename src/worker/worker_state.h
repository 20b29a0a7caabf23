/*
 * worker_state.h - what a worker knows, for the files that it is made of: worker.c takes tasks and
 * is woken, worker_runs.c leads each to its end.
 */
#ifndef WORKER_WORKER_STATE_H
#define WORKER_WORKER_STATE_H

#include "base/base.h"
#include "process/loop.h"
#include "process/message.h"
#include "worker/execution.h"
#include "worker/handler.h"
#include "worker/intake.h"
#include "worker/runs.h"

struct worker {
    struct process *process;
    struct handler_place place;
    struct execution *execution; /* owned */
    void **states;               /* owned; of each handler that was opened, at its home */
    bool *is_open;               /* owned; each home */
    struct intake intake;
    struct runs runs;
    struct loop_watch tasks, results;
    struct loop_timer stop_timer, look_timer;
    enum stop_reason stop; /* of what runs inside us, if it was asked to */
    bool is_blocked;       /* by the intake's blocker */
    bool has_heard;        /* the bell, and has not looked since */
    bool is_hungry;        /* has begun what others can join, and asked for no more yet */
    bool is_retiring;      /* take only what is in the task ring */
    bool ended;            /* take no more jobs */
};

/* worker_runs.c */

/* Whether a job of this handler can be begun beside what runs; `context` is the worker. */
bool worker_may_take(void *context, size_t handler);

/* Gives it to its handler, and waits for its end if that is how the handler works. */
bool worker_begin_run(struct worker *worker, struct run *run, struct error *err) MUST_CHECK;

/* Asks it to stop. */
void worker_give_up(struct worker *worker, struct run *run, enum stop_reason why, usec_t grace);

/* After a step of the loop: those that have ended are reported. */
bool worker_serve_runs(struct worker *worker, struct error *err) MUST_CHECK;

/* Timer: leases that were not confirmed in time are given up. */
void worker_check_leases(void *context);

/* For what keeps us from the loop: whether it has to stop. */
enum stop_reason worker_wants_stop(void *context);

void worker_close_handlers(struct worker *worker);

#endif
