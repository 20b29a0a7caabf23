/*
 * recovery.h - finds out what this pool holds: when a dispatcher starts while jobs run, and after
 * an answer of the store that never came.
 */
#ifndef DISPATCHER_RECOVERY_H
#define DISPATCHER_RECOVERY_H

#include "base/base.h"

struct dispatcher;
struct error;

/* When the store has been opened. Nothing else is done before: a result whose job is not known yet
 * would be taken for one of a job that is settled. A pool that has handed out nothing has nothing
 * to mistake, and may start without those of its queues that are away. */
bool recovery_run(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* Once more, in a while and once no queue is away any more: what was asked for before may have been
 * on its way for so long that it came to the store after the last look. */
bool recovery_is_due(const struct dispatcher *dispatcher);
bool recovery_repeat(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

#endif
