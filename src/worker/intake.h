/*
 * intake.h - a worker's next task: found in the task ring, claimed in the lease table.
 */
#ifndef WORKER_INTAKE_H
#define WORKER_INTAKE_H

#include "base/base.h"

#include "process/lease_table.h"

struct arena;
struct error;
struct process;
struct task;

/* What a worker goes by. */
struct intake {
    const struct process *process;
    bool (*may_take)(void *context, size_t handler); /* a task of that handler, now */
    void *context;
    struct hold
        blocker; /* the task that stands in the way; HOLD_NONE: none did, at the last look */
};

/* Starts the next task that nobody else has; it points into the arena. False in *started_out: there
 * is none, or the first may not be taken now. */
bool intake_start(struct intake *intake, struct arena *arena, struct task *task_out,
                  bool *started_out, struct error *err) MUST_CHECK;

#endif
