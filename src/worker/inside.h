/*
 * inside.h - while code of a plugin runs in this worker.
 *
 * Then the loop does not turn, and only signals reach the worker. The mark on the scoreboard tells
 * the master whose code runs and until when it may; if the worker dies, the mark is what is left to
 * say where.
 *
 * A plugin may fork, and its child may return to us. It is not a worker: it has our memory, our
 * sockets and our loop, and none of it is its own. It ends before it touches any of that.
 */
#ifndef WORKER_INSIDE_H
#define WORKER_INSIDE_H

#include "base/base.h"
#include "process/lease_table.h"

struct error;
struct process;

/* Less than it takes to make a process in any way: after a shorter call nobody has to look. */
#define INSIDE_FORK_TIME ((usec_t)10)

/* Once, before the first plugin is loaded. */
bool inside_prepare(const struct process *process, struct error *err) MUST_CHECK;

/* Around every call. `until`, on clock_boot(): 0 is no limit. Entering again moves the mark. */
void inside_enter(const struct process *process, uint32_t plugin, struct hold hold, usec_t until);
void inside_leave(const struct process *process);

/* First thing after a call that began at `since`, on clock_boot(); 0: some time ago. Does not
 * return in a child that the call has left behind. */
void inside_return(usec_t since);

/* Whether this is the worker, and no child of it. */
bool inside_is_worker(void);

#endif
