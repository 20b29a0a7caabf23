/*
 * away.h - queues that are away while others answer: said once, and their jobs not forgotten.
 */
#ifndef DISPATCHER_AWAY_H
#define DISPATCHER_AWAY_H

#include "base/base.h"

struct dispatcher;
struct error;

/* After an exchange, which said why. False when all are away: then the store is. */
bool away_note(struct dispatcher *dispatcher, const struct error *why,
               struct error *err) MUST_CHECK;

/* Settlements of the outbox from `from` on that have a verdict: those whose queue is away are kept,
 * the others concluded. */
bool away_sift(struct dispatcher *dispatcher, size_t from, struct error *err) MUST_CHECK;

#endif
