/*
 * inside.h - thd: gate, as its own files see it.
 */
#ifndef GATE_INSIDE_H
#define GATE_INSIDE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/uuid.h"
#include "desk/desk.h"
#include "gate/beats.h"
#include "gate/bell.h"
#include "gate/claims.h"
#include "gate/deliveries.h"
#include "gate/enqueues.h"
#include "gate/remotes.h"
#include "gate/returns.h"
#include "gate/settles.h"
#include "process/loop.h"

struct config;
struct error;

struct gate {
    struct desk *desk;
    const struct config *config;
    usec_t born_at; /* boot time */

    /* What the doors want, each in the order in which it came. */
    struct enqueues enqueues;
    struct settles settles;
    struct beats beats;
    struct claims claims;

    struct remotes remotes;
    struct deliveries deliveries;
    struct returns returns;
    struct loop_timer doubt_timer; /* of the next look for what nobody has got */
    struct bell bell;
    struct uuid_maker ids; /* of jobs that a death brings */
    struct arena turn;     /* as long as one turn */
};

void gate_answer(struct peer *peer, uint64_t serial, const struct buffer *pack);

/* What the store says of a lease, in words. */
void gate_refuse_lease(struct peer *peer, uint64_t serial, const struct uuid *job,
                       enum th_error_code verdict, struct error *why_out);

/* Somebody speaks of a job whose lease was never theirs. False: the store failed. */
bool gate_refuse_stranger(struct gate *gate, struct peer *peer, uint64_t serial,
                          const struct uuid *job, struct error *err) MUST_CHECK;

/* A call of the store has failed: if the store is away, all that waits for it is refused. */
void gate_note_failure(struct gate *gate, const struct error *err);

#endif
