/*
 * outbox.h - settlements that wait for the next exchange.
 *
 * They stay here until the store has answered: while it is away they are kept, and an exchange
 * whose answer was lost is repeated with the same tokens. Those that the store could not settle
 * when it settled others, because their queue is away or somebody's open transaction has a key that
 * the job runs with, are the first in it. They go with an exchange now and then, until they are
 * settled or their leases, which the heartbeater extends, have ended.
 */
#ifndef DISPATCHER_OUTBOX_H
#define DISPATCHER_OUTBOX_H

#include "base/arena.h"
#include "base/base.h"
#include "job/settlement.h"

struct dispatcher;
struct error;
struct held_job;

struct outbox {
    struct arena arena; /* owns what the settlements point to, but for their jobs */
    struct settlement *settlements;
    struct held_job **jobs; /* of the settlement with the same index */
    enum th_error_code *verdicts;
    size_t count, capacity;
    size_t kept;       /* as many of the first were sent before, and could not be settled */
    usec_t kept_until; /* boot time at which they are sent again */
    usec_t kept_delay; /* longer each time, while any are kept */
    size_t left;       /* the last of them, which were too much for the last exchange */
    size_t most;       /* that go with one exchange, after one that took too long; 0: all */
};

bool outbox_add(struct outbox *outbox, struct held_job *held, const struct settlement *settlement,
                struct error *err) MUST_CHECK;

/* The first that goes with an exchange now: all from it on do. */
size_t outbox_first(const struct outbox *outbox, usec_t now);

/* How many of `waiting` go with the next exchange. */
size_t outbox_share(const struct outbox *outbox, size_t waiting);

/* As many of these as are small enough for one exchange together, and at least one. */
size_t outbox_fit(struct outbox *outbox, size_t from, size_t share);

/* An exchange with so many was too slow to be answered: the next has half of them. */
void outbox_shrink(struct outbox *outbox, size_t sent);
/* One with so many was answered. */
void outbox_grow(struct outbox *outbox, size_t sent);

/* Those from `from` on have their verdicts. What is settled, or never will be, is told to people
 * and let go; what the store could not settle now is kept. */
bool outbox_take_answers(struct dispatcher *dispatcher, size_t from, struct error *err) MUST_CHECK;

/* Makes the settlement `from` number `to`, one that is kept. What it points to is copied. */
bool outbox_keep(struct outbox *outbox, size_t from, size_t to, struct error *err) MUST_CHECK;

/* Of those that are kept from `from` on: what was too much for the last exchange goes before what
 * could not be settled. */
void outbox_turn(struct outbox *outbox, size_t from);

/* Those that are kept are sent again in a while from `now` on; at once, if the last exchange was
 * only full. */
void outbox_wait(struct outbox *outbox, usec_t now);

/* Only the first `kept` remain. */
void outbox_clear(struct outbox *outbox, size_t kept);

/* What `from` has comes after what `outbox` has; `from` is empty then. */
bool outbox_append(struct outbox *outbox, struct outbox *from, struct error *err) MUST_CHECK;

/* Of one that is empty: what it has grown to is freed. */
void outbox_trim(struct outbox *outbox);

/* Frees the held jobs that are in no lease table, too: nobody else has them. */
void outbox_done(struct outbox *outbox);

#endif
