/*
 * result_ring.h - shared memory: results for the dispatcher, a ring per worker; who sleeps.
 *
 *     worker --put--> | r | r | r |   | --look--> dispatcher --take, once it is settled--> free
 *
 * What is in a ring outlives the worker that put it there and the dispatcher that looked at it, as
 * what is in a socket does; but nobody asks the kernel. A result that does not fit, or finds the
 * ring full, goes through the worker's socket.
 *
 * A worker writes its own ring and sees no other. It runs other people's code: the dispatcher
 * checks what it finds in a ring before it takes it for a result, and remembers where no worker can
 * write how far it has come. A ring is issued to one process and never to a second one before it is
 * blank again: what a worker has spoilt ends with it.
 *
 * Whoever sleeps has to be woken by a system call, so each says here that it sleeps, looks for news
 * once more, and then sleeps; whoever brings news looks here afterwards.
 */
#ifndef PROCESS_RESULT_RING_H
#define PROCESS_RESULT_RING_H

#include "base/base.h"
#include "process/message.h"

struct arena;
struct error;
struct result_rings;

/* When the dispatcher wants to be told of results. */
enum result_call {
    RESULT_CALL_AWAKE,  /* not at all: it looks */
    RESULT_CALL_ASLEEP, /* of any */
    RESULT_CALL_PACING, /* by a worker that has nothing left to do */
};

/* Before the processes are forked. A ring is known by its number, 1 and up. */
bool result_rings_open(size_t count, struct result_rings **rings_out, struct error *err) MUST_CHECK;
void result_rings_close(struct result_rings **rings);

/* ---- the master ---- */

/* A blank ring for a worker that is about to be forked; 0: none is left for now. */
int result_rings_issue(struct result_rings *rings);

/* Of a worker that has ended: it does not sleep. */
void result_ring_leave(struct result_rings *rings, int ring);

/* Of a worker of which nothing is left to settle; 0 is none. */
void result_rings_return(struct result_rings *rings, int ring);

/* ---- a worker, with its own ---- */

/* First thing: the rings of others are unmapped. */
bool result_rings_restrict(struct result_rings *rings, int ring, struct error *err) MUST_CHECK;

/* False: send it. */
bool result_ring_put(struct result_rings *rings, int ring, const struct result *result) MUST_CHECK;
enum result_call result_rings_call(const struct result_rings *rings);
void result_ring_set_asleep(struct result_rings *rings, int ring, bool is_asleep);

/* ---- the dispatcher ---- */

/* Between these two a worker has it; looks from the oldest on that nobody has taken. */
void result_ring_use(struct result_rings *rings, int ring);
void result_ring_drop(struct result_rings *rings, int ring);

/* The next one that has not been looked at, as result_look() has it. */
enum delivery result_ring_look(struct result_rings *rings, int ring, struct arena *arena,
                               struct result *result_out, struct error *err);

/* Whether half of it was looked at and is not taken yet. */
bool result_ring_is_filling(const struct result_rings *rings, int ring);

/* How many were looked at and are not taken yet. */
size_t result_ring_looked(const struct result_rings *rings, int ring);

/* Frees what was looked at; or the first of it. */
void result_ring_take(struct result_rings *rings, int ring);
void result_ring_take_first(struct result_rings *rings, int ring, size_t count);

/* Whether there is anything that was not looked at. */
bool result_rings_have_news(const struct result_rings *rings);
void result_rings_set_call(struct result_rings *rings, enum result_call call);
size_t result_rings_sleepers(const struct result_rings *rings);

#endif
