/*
 * interleave.h - in which order the jobs of one exchange are handed out.
 */
#ifndef DISPATCHER_INTERLEAVE_H
#define DISPATCHER_INTERLEAVE_H

#include "base/base.h"

struct error;
struct job_list;

/* The indices of the jobs, which come queue by queue: each queue's jobs keep their order, and are
 * spread evenly over the whole, so that the workers see the queues' shares over any stretch. The
 * caller frees them. NULL when out of memory. */
size_t *interleave_order(const struct job_list *jobs) MUST_CHECK;

#endif
