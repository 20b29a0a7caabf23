/*
 * tail.h - the last bytes of a stream.
 *
 * Memory is taken as it is needed, up to the size of the tail; nothing for a stream of nothing.
 */
#ifndef WORKER_TAIL_H
#define WORKER_TAIL_H

#include "base/base.h"

struct arena;

#define TAIL_SIZE ((size_t)4096) /* where nobody wants another */

/* struct tail tail = {.size = TAIL_SIZE}; */
struct tail {
    size_t size;          /* how many are kept */
    unsigned char *bytes; /* owned; a ring: byte n of the stream is at n % capacity */
    size_t capacity;      /* `size` before anything is overwritten */
    uint64_t total;       /* of all that was ever added */
    bool failed;          /* out of memory: nothing is kept */
};

void tail_add(struct tail *tail, struct bytes data);

/* What was added last did not end a line. */
bool tail_is_mid_line(const struct tail *tail);

/* Oldest first; {NULL, 0} when there is nothing. */
struct bytes tail_read(const struct tail *tail, struct arena *arena);

void tail_done(struct tail *tail);

#endif
