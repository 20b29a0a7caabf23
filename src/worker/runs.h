/*
 * runs.h - the jobs that this worker runs: one, or those that one resident has.
 *
 * Whoever looks at the scoreboard or at the title of the process sees the one that it has had
 * longest, and how many there are.
 */
#ifndef WORKER_RUNS_H
#define WORKER_RUNS_H

#include "base/arena.h"
#include "base/base.h"
#include "process/message.h"
#include "worker/handler.h"
#include "worker/speech.h"

struct error;
struct process;

/* A task, from the moment at which this worker has started it until its result is given away. */
struct run {
    struct run *next;   /* a younger one */
    struct arena arena; /* of the task */
    struct task task;
    const struct handler *handler; /* that has it; NULL: it has not begun */
    bool is_shared;                /* its handler does not keep us waiting for it */
    bool is_given_up;              /* its lease was not confirmed in time */
    size_t place;                  /* on the scoreboard */
    struct speech speech;
    struct handler_listener listener;
    struct handler_job job;
    struct handler_run run;
};

struct runs {
    const struct process *process;
    struct run *first, *last; /* owned; the oldest first */
    struct run *spare;        /* owned; for the next task; or NULL */
    bool *is_taken;           /* owned; each place */
    size_t extent;            /* of those that are */
    size_t count;
    int64_t done;
};

bool runs_open(struct runs *runs, const struct process *process, struct error *err) MUST_CHECK;
void runs_close(struct runs *runs);

/* Room for a task; the same one until it is begun. NULL when out of memory. */
struct run *runs_spare(struct runs *runs) MUST_CHECK;

/* Its task was started: it is shown, and heard. */
void runs_begin(struct runs *runs, struct run *run);

/* Its result is given away. */
void runs_end(struct runs *runs, struct run *run);

/* NULL: it is not run here. */
struct run *runs_find(const struct runs *runs, struct hold hold);

#endif
