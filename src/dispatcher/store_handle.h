/*
 * store_handle.h - the dispatcher's handle of the store, and its bell.
 */
#ifndef DISPATCHER_STORE_HANDLE_H
#define DISPATCHER_STORE_HANDLE_H

#include "base/base.h"

struct dispatcher;
struct error;

/* A new handle instead of the one that there may be. The first one of a process tells people what
 * the store may lose. */
bool store_handle_open(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;
void store_handle_close(struct dispatcher *dispatcher);

/* Keeps max_payload and idempotency_window in the store, for producers that see no config. Jobs run
 * without it, so a store that takes no writes now is no reason to wait: it is to be called again.
 */
void store_handle_publish(struct dispatcher *dispatcher);

/* While the store answers, its bell wakes the dispatcher. */
bool store_handle_watch_bell(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;
void store_handle_leave_bell(struct dispatcher *dispatcher);

#endif
