/*
 * inside.h - thd: gate, as its own files see it.
 */
#ifndef GATE_INSIDE_H
#define GATE_INSIDE_H

#include "base/base.h"
#include "desk/desk.h"
#include "gate/enqueues.h"

struct buffer;
struct config;
struct error;

struct gate {
    struct desk *desk;
    const struct config *config;
    struct enqueues enqueues;
};

void gate_answer(struct peer *peer, uint64_t serial, const struct buffer *pack);

/* A call of the store has failed: if the store is away, all that waits for it is refused. */
void gate_note_failure(struct gate *gate, const struct error *err);

#endif
