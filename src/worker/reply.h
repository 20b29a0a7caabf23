/*
 * reply.h - a result on its way back to the dispatcher: into this worker's ring, or its socket.
 */
#ifndef WORKER_REPLY_H
#define WORKER_REPLY_H

#include "base/base.h"

struct error;
struct loop_watch;
struct process;
struct result;

/* Returns when it cannot be lost any more; `socket` is the watch on the result socket. The loop may
 * be stepped meanwhile. */
bool reply_give(const struct process *process, struct loop_watch *socket,
                const struct result *result, struct error *err) MUST_CHECK;

/* Wakes the dispatcher: there is room for more jobs. */
bool reply_ask_for_more(const struct process *process, struct error *err) MUST_CHECK;

#endif
