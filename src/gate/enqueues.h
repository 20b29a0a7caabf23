/*
 * enqueues.h - jobs that doors want to be stored, until the gate's turn comes.
 */
#ifndef GATE_ENQUEUES_H
#define GATE_ENQUEUES_H

#include "base/base.h"

struct call;
struct error;
struct gate;
struct peer;

/* One request: its jobs are stored together or not at all. */
struct enqueue_request;

struct enqueues {
    struct enqueue_request *first, **last; /* owned; in the order in which they came */
};

/* Takes the call; it is answered in a turn. */
void enqueues_take(struct gate *gate, struct peer *peer, const struct call *call);

/* That door has died, or all have (NULL): nobody waits for what it wanted. */
void enqueues_forget_peer(struct gate *gate, const struct peer *peer);

/* Stores all of them, and answers. */
void enqueues_run(struct gate *gate);

void enqueues_refuse_all(struct gate *gate, const struct error *why);

#endif
