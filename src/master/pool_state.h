/*
 * pool_state.h - where the pool stands.
 *
 *   from       event                               to         by
 *   -          thd starts                          starting   master.c
 *   starting   every process has reported ready    running    master.c
 *   starting   TERM, INT                           draining   shutdown.c
 *   running    TERM, INT                           draining   shutdown.c
 *   starting   QUIT; a process is unusable         stopping   shutdown.c
 *   running    QUIT; a process is unusable         stopping   shutdown.c
 *   draining   TERM, INT, QUIT; the time is up     stopping   shutdown.c
 *   any        the dispatcher has nothing left     stopping   shutdown.c
 *
 * There is no way back. A pause is not a state of the pool: a paused pool runs, and drains like any
 * other.
 */
#ifndef MASTER_POOL_STATE_H
#define MASTER_POOL_STATE_H

#include "base/base.h"

enum pool_state {
    POOL_STARTING,
    POOL_RUNNING,
    POOL_DRAINING, /* reserves nothing, waits for what runs */
    POOL_STOPPING, /* what runs is stopped; then the processes end, in their order */
};

const char *pool_state_name(enum pool_state state);

/* Whether the table has such a change. */
bool pool_state_may_become(enum pool_state from, enum pool_state to);

#endif
