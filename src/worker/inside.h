/*
 * inside.h - while code of a plugin runs in this worker.
 *
 * Then the loop does not turn, and only signals reach the worker. The mark on the scoreboard tells
 * the master whose code runs and until when it may; if the worker dies, the mark is what is left to
 * say where.
 */
#ifndef WORKER_INSIDE_H
#define WORKER_INSIDE_H

#include "base/base.h"
#include "process/lease_table.h"

struct error;
struct process;

/* Once, before the first plugin is loaded. */
bool inside_prepare(const struct process *process, struct error *err) MUST_CHECK;

/* Around every call. `until`, on clock_boot(): 0 is no limit. Entering again moves the mark. */
void inside_enter(const struct process *process, uint32_t plugin, struct hold hold, usec_t until);
void inside_leave(const struct process *process);

#endif
