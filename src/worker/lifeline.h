/*
 * lifeline.h - how a worker ends with the master.
 *
 *     outside plugins       SIGCONT: one that is stopped goes on, its loop sees that the master is
 *                           gone, and it kills all that it has started before it ends
 *     inside a plugin       SIGKILL: nothing that the plugin has done to signals holds it up
 *
 * Programs that it has started die with it in any case (spawn.c). The signal is the system's to
 * send; it costs a call to change it, which a worker that only runs plugins makes once.
 */
#ifndef WORKER_LIFELINE_H
#define WORKER_LIFELINE_H

#include "base/base.h"

struct process;

/* Changes the signal if it is another one, and ends the worker if the master is gone already. */
void lifeline_outside(const struct process *process);
void lifeline_inside(const struct process *process);

#endif
