/*
 * room.h - how many jobs to ask the store for.
 */
#ifndef DISPATCHER_ROOM_H
#define DISPATCHER_ROOM_H

#include "base/base.h"

/* A job that took longer than this is not fetched ahead for: the time that its worker is idle
 * between two of its kind is small against the job. */
#define ROOM_QUICK_JOB (50 * USEC_PER_MSEC)

struct room_facts {
    size_t idle;              /* workers */
    size_t spare;             /* jobs that can join those of a resident */
    size_t quick, last_quick; /* jobs quickly done, or without a worker, since the last exchange,
                               * and since the one before */
    size_t waiting;           /* to be started */
    size_t held, capacity;    /* of the lease table, but for what the exchange settles */
};

/* How many more jobs a worker that runs some may have for now. Nobody knows what the next jobs will
 * be, and only those of the same resident can join: so as many as it has shown to take, and those
 * again, up to `limit`. */
size_t room_to_join(size_t running, size_t limit);

/* One for each idle worker, what can join others, and twice as many as were quickly done: so much
 * will be eaten while the next exchange is under way. What already waits is in their way. An
 * exchange that follows on another's heels finds little done, which says nothing: the one before
 * counts as well. No more than half of the table at once, so that the workers have the one half
 * while the other is exchanged. */
size_t room_for(const struct room_facts *facts);

/* No more than fit into this many bytes, if they are as large as the last ones were on average. */
size_t room_by_size(size_t room, size_t last_count, size_t last_bytes);

#endif
