/*
 * room.h - how many jobs to ask the store for.
 */
#ifndef DISPATCHER_ROOM_H
#define DISPATCHER_ROOM_H

#include "base/base.h"

/* A job that took longer than this is not fetched ahead for: the time that its worker is idle
 * between two of its kind is small against the job. */
#define ROOM_QUICK_JOB (50 * USEC_PER_MSEC)

/* `idle` workers, plus twice as many jobs as were `quick`ly finished since the last exchange: so
 * much will be eaten while the next one is under way. What is already `waiting` to be started is in
 * their way. `free` is how many more the lease table holds. */
size_t room_for(size_t idle, size_t quick, size_t waiting, size_t free);

/* No more than fit into this many bytes, if they are as large as the last ones were on average. */
size_t room_by_size(size_t room, size_t last_count, size_t last_bytes);

#endif
