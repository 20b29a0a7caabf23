/*
 * store_handle.h - the dispatcher's handle of the store, and its bell.
 */
#ifndef DISPATCHER_STORE_HANDLE_H
#define DISPATCHER_STORE_HANDLE_H

#include "base/base.h"

struct dispatcher;
struct error;

/* Opens a store that does not answer when it is time to try, and finds out what this pool holds.
 * The first time it does the master is told that we are ready, and people what the store may lose.
 */
bool store_handle_keep(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;
void store_handle_close(struct dispatcher *dispatcher);

/* After a call that failed. True when it may get better: it is tried again, with growing delay. */
bool store_handle_lose(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* Hears its bell, which wakes the dispatcher while the store answers, and proves now and then that
 * it still would. */
bool store_handle_tend(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

#endif
