/*
 * enqueue_call.h - CALL_ENQUEUE: jobs that are to be stored, all of them or none.
 *
 * Their ids are made in the door, so the same call can be sent again to a gate that has taken the
 * place of one that died before it answered: what is stored already is not stored again.
 */
#ifndef DOOR_ENQUEUE_CALL_H
#define DOOR_ENQUEUE_CALL_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"

struct arena;
struct buffer;
struct error;

#define ENQUEUE_CALL_MAX 1000 /* jobs */

/* `delays`: how long from now each is to wait that has no run_at, by the database's clock, which
 * the gate knows; -1 is none. */
struct enqueue_call {
    struct job *jobs;
    usec_t *delays;
    size_t count; /* 1 to ENQUEUE_CALL_MAX */
};

void enqueue_call_pack(struct buffer *pack, const struct enqueue_call *call);
/* The texts lie in the pack, the rest in the arena. */
bool enqueue_call_unpack(struct bytes pack, struct arena *arena, struct enqueue_call *call_out,
                         struct error *err) MUST_CHECK;

/* What became of each, in their order: see store.h. */
struct enqueue_verdict {
    struct uuid id;
    enum job_state state;
    bool existed;
    bool updated;
};

struct enqueue_answer {
    struct enqueue_verdict *verdicts;
    size_t count;
};

void enqueue_answer_pack(struct buffer *pack, const struct enqueue_answer *answer);
bool enqueue_answer_unpack(struct bytes pack, struct arena *arena,
                           struct enqueue_answer *answer_out, struct error *err) MUST_CHECK;

#endif
