/*
 * once.h - --once: whether there is nothing left to do.
 */
#ifndef DISPATCHER_ONCE_H
#define DISPATCHER_ONCE_H

#include "base/base.h"

struct dispatcher;
struct error;

/* Of a dispatcher that holds nothing: what has just become due, and what has just been found to be
 * startable, is still to be done. */
bool once_is_over(struct dispatcher *dispatcher, bool *over_out, struct error *err) MUST_CHECK;

#endif
