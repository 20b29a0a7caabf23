/*
 * bell.h - hears that something may be ready, while claims wait.
 *
 * It is not there before the first of them waits: a gate that has none costs no producer anything.
 */
#ifndef GATE_BELL_H
#define GATE_BELL_H

#include "base/base.h"
#include "process/loop.h"

struct error;
struct gate;

struct bell {
    struct loop_watch watch;
    struct loop_timer timer; /* of the next proof that it works */
    uint64_t rings;          /* that it has rung so far */
    bool has_rung;           /* the store has not been told that we heard */
};

void bell_init(struct gate *gate);

/* A claim is about to wait: from here on it rings. */
bool bell_listen(struct gate *gate, struct error *err) MUST_CHECK;

/* Counts the ring that came, and quiets it. */
bool bell_answer(struct gate *gate, struct error *err) MUST_CHECK;

/* The handle of the store goes. */
void bell_leave(struct gate *gate);

#endif
