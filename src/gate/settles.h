/*
 * settles.h - what remote workers say of jobs that they have run, until the gate's turn comes.
 *
 * Whoever repeats what was settled already is told the same again.
 */
#ifndef GATE_SETTLES_H
#define GATE_SETTLES_H

#include "base/base.h"

struct call;
struct error;
struct gate;
struct peer;

struct settle_request;

struct settles {
    struct settle_request *first, **last; /* owned; in the order in which they came */
    size_t count;
};

void settles_take(struct gate *gate, struct peer *peer, const struct call *call);
/* Of that door; NULL: of all. */
void settles_forget_peer(struct gate *gate, const struct peer *peer);
bool settles_run(struct gate *gate, struct error *err) MUST_CHECK;
void settles_refuse_all(struct gate *gate, const struct error *why);

#endif
