/*
 * backoff.h - a delay that doubles each time, up to a limit.
 */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include "base/base.h"

/* How long to wait this time: twice the last delay, at most `longest`. 0 is "has not waited yet":
 * then it is the `first`. */
usec_t backoff_next(usec_t delay, usec_t first, usec_t longest);

#endif
