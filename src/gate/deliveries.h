/*
 * deliveries.h - claimed jobs on their way through a door to their worker.
 *
 * They are the worker's when its door says that it is about to write the answer. Until then the
 * gate gives them back when the door dies, or says that nobody has got them.
 */
#ifndef GATE_DELIVERIES_H
#define GATE_DELIVERIES_H

#include "base/base.h"
#include "job/lease.h"

struct gate;
struct job;
struct peer;

struct delivery_record; /* of one claim */

struct deliveries {
    struct delivery_record *first; /* owned */
};

/* The jobs of a claim that is about to be answered. False: out of memory. */
bool deliveries_add(struct gate *gate, struct peer *peer, uint64_t serial,
                    const struct batch_token *batch, const struct job *jobs,
                    size_t count) MUST_CHECK;

/* The client has them. */
void deliveries_confirm(struct gate *gate, const struct peer *peer, uint64_t serial);

/* Nobody will have them. False: nothing is known of such a claim. */
bool deliveries_take_back(struct gate *gate, const struct batch_token *batch);
void deliveries_take_back_call(struct gate *gate, const struct peer *peer, uint64_t serial);
void deliveries_take_back_peer(struct gate *gate, const struct peer *peer);

void deliveries_done(struct gate *gate);

#endif
