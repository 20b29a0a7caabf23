/*
 * backing.h - the dispatcher's handle of the store, and its bell.
 */
#ifndef DISPATCHER_BACKING_H
#define DISPATCHER_BACKING_H

#include "base/base.h"

struct dispatcher;
struct error;

/* A new handle instead of the one that there may be. The first one of a process tells people what
 * the store may lose. */
bool backing_open(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;
void backing_close(struct dispatcher *dispatcher);

/* Keeps max_payload and idempotency_window in the store, for producers that see no config. Jobs run
 * without it, so a store that takes no writes now is no reason to wait: it is to be called again.
 */
void backing_publish(struct dispatcher *dispatcher);

/* While the store answers, its bell wakes the dispatcher. */
bool backing_watch_bell(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;
void backing_leave_bell(struct dispatcher *dispatcher);

#endif
