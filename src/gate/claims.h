/*
 * claims.h - remote workers that want jobs, until there are some or their time is over.
 *
 *   comes in   the store is asked at once; then it waits for the bell, and costs nothing
 *   rings      all that wait are asked for, in the order in which they came; and every few
 *              seconds, for leases that have run out, as a dispatcher does
 *
 * What was found dry is not asked again before the next ring, so a thousand that wait for the same
 * queue cost as much as one.
 */
#ifndef GATE_CLAIMS_H
#define GATE_CLAIMS_H

#include "base/base.h"
#include "process/loop.h"

struct call;
struct error;
struct gate;
struct peer;

struct claim;

struct claims {
    struct claim *first, **last; /* owned; in the order in which they came */
    struct loop_timer timer;     /* when the first one's time is over, or a rate allows more */
};

void claims_init(struct gate *gate);

void claims_take(struct gate *gate, struct peer *peer, const struct call *call);

/* CALL_UNCLAIM. */
void claims_take_back(struct gate *gate, struct peer *peer, const struct call *call);

/* Nobody waits for that one any more; or for any of that door, or of all (NULL).
 */
void claims_forget(struct gate *gate, const struct peer *peer, uint64_t serial);
void claims_forget_peer(struct gate *gate, const struct peer *peer);

/* Their workers have been heard of: remotes.h. */
bool claims_touch(struct gate *gate, struct error *err) MUST_CHECK;

bool claims_run(struct gate *gate, struct error *err) MUST_CHECK;

void claims_refuse_all(struct gate *gate, const struct error *why);

#endif
