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

/* All children that this process has now. */
bool staying_add_children(struct staying *staying, struct error *err) MUST_CHECK;

/* Kills all others, and waits until they are gone. */
bool staying_kill_others(const struct staying *staying, struct error *err) MUST_CHECK;

#endif
