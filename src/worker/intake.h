/*
 * intake.h - a worker's next task: found in the rack, claimed in the lease table.
 */
#ifndef WORKER_INTAKE_H
#define WORKER_INTAKE_H

#include "base/base.h"

struct arena;
struct error;
struct process;
struct task;

/* The next one that nobody else has is started by this worker; it points into the arena. False in
 * *started_out: there is none. */
bool intake_start(const struct process *process, struct arena *arena, struct task *task_out,
                  bool *started_out, struct error *err) MUST_CHECK;

#endif
