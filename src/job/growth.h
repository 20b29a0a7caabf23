/*
 * growth.h - the end of a stream, looked at again and again: what is new in it.
 *
 * A pool keeps the last bytes of what a job prints. Between two looks the end moves on, so what is
 * new begins where the one that was seen stops. More may be kept of a job that has ended than of
 * one that runs; then the one that was seen lies within it.
 */
#ifndef JOB_GROWTH_H
#define JOB_GROWTH_H

#include "base/base.h"

/* The part of `after` that was not in `before`. *lost_out: something was printed between the two
 * and is in neither of them; then all of `after` is new. */
struct bytes growth_since(struct bytes before, struct bytes after, bool *lost_out);

#endif
