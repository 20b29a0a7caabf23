/*
 * briefing.h - what the dispatcher has to know, and what of it it has been told.
 *
 * Not a queue of messages: what is to be told is compared with what was told, so that a dispatcher
 * that starts anew is told exactly what holds by then, and one that is busy holds nobody up.
 *
 * The order is: every worker that was started, every one that has ended, then what the pool wants
 * of it.
 */
#ifndef MASTER_BRIEFING_H
#define MASTER_BRIEFING_H

#include "base/base.h"
#include "process/message.h"

struct master;

struct briefing {
    enum order_kind told; /* RESUME, PAUSE, DRAIN or STOP: the last of them */
};

/* A new dispatcher, or none: nothing has been told. */
void briefing_reset(struct master *master);

/* Tells all that is new, now or as soon as there is room. */
void briefing_continue(struct master *master);

#endif
