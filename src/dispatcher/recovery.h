/*
 * recovery.h - finds out what this pool holds: when a dispatcher starts while jobs run, and after
 * an answer of the store that never came.
 */
#ifndef DISPATCHER_RECOVERY_H
#define DISPATCHER_RECOVERY_H

#include "base/base.h"

struct dispatcher;
struct error;

bool recovery_run(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

#endif
