/*
 * returns.h - what the gate gives back by itself: jobs that were claimed and have reached nobody.
 *
 *   nobody waits for the answer of these settlements; they are kept until the store has answered
 */
#ifndef GATE_RETURNS_H
#define GATE_RETURNS_H

#include "base/arena.h"
#include "base/base.h"
#include "job/lease.h"

struct error;
struct gate;
struct job;
struct remote_lease;
struct settlement;

/* Of claims whose end nobody knows: what the store holds for them is looked for. */
struct doubt;

struct returns {
    struct arena arena;
    struct settlement *items; /* owned */
    size_t count, capacity;
    struct doubt *doubts; /* owned */
    size_t doubt_count;
};

/* It was never started, so that nothing is counted. Copied. */
void returns_add_job(struct gate *gate, const struct job *job);
void returns_add(struct gate *gate, const struct settlement *settlement);

/* A claim of that pool may have reserved something that nobody has got. */
void returns_doubt(struct gate *gate, const char *pool, const struct batch_token *batch);

bool returns_run(struct gate *gate, struct error *err) MUST_CHECK;

void returns_done(struct gate *gate);

#endif
