/*
 * staying.h - the children of this worker that are spared when a run is cleared up after.
 */
#ifndef WORKER_STAYING_H
#define WORKER_STAYING_H

#include "base/base.h"

#include <sys/types.h>

struct error;

/* Zeroed: none. */
struct staying {
    pid_t *pids; /* owned */
    size_t count, capacity;
};

/* For one more. */
bool staying_make_room(struct staying *staying, struct error *err) MUST_CHECK;

/* There has to be room. */
void staying_add(struct staying *staying, pid_t pid);
void staying_remove(struct staying *staying, pid_t pid);
void staying_done(struct staying *staying);

#endif
