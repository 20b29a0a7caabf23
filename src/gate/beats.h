/*
 * beats.h - heartbeats of remote workers for what they run, until the gate's turn comes.
 */
#ifndef GATE_BEATS_H
#define GATE_BEATS_H

#include "base/base.h"

struct call;
struct error;
struct gate;
struct peer;

struct beat_request;

struct beats {
    struct beat_request *first, **last; /* owned; in the order in which they came */
};

void beats_take(struct gate *gate, struct peer *peer, const struct call *call);
/* Of that door; NULL: of all. */
void beats_forget_peer(struct gate *gate, const struct peer *peer);
bool beats_run(struct gate *gate, struct error *err) MUST_CHECK;
void beats_refuse_all(struct gate *gate, const struct error *why);

#endif
