/*
 * outbox.h - settlements that wait for the next exchange.
 *
 * They stay here until the store has answered: while it is away they are kept, and an exchange
 * whose answer was lost is repeated with the same tokens.
 */
#ifndef DISPATCHER_OUTBOX_H
#define DISPATCHER_OUTBOX_H

#include "base/arena.h"
#include "base/base.h"
#include "job/settlement.h"

struct error;
struct flight;

struct outbox {
    struct arena arena; /* owns what the settlements point to, but for their flights */
    struct settlement *settlements;
    struct flight **flights; /* of the settlement with the same index */
    enum th_error_code *verdicts;
    size_t count, capacity;
};

bool outbox_add(struct outbox *outbox, struct flight *flight, const struct settlement *settlement,
                struct error *err) MUST_CHECK;
void outbox_clear(struct outbox *outbox);

/* Frees the flights that are in no lease table, too: nobody else has them. */
void outbox_done(struct outbox *outbox);

#endif
