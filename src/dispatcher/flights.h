/*
 * flights.h - exchanges that are out: the store works on them, and we go on.
 *
 *   outbox, shares --begin--> out, at most two --the answer comes: land--> jobs, a smaller outbox
 *                                     `--------a call failed: abandon----> all back into the outbox
 *
 * They land in the order in which they began, which is that in which the store makes them. While
 * the store works on one, the answer of the one before is taken in and the next one is written: a
 * busy pool keeps both at work. Each has to be large to be worth it, so a pool that is not busy
 * waits for each of its exchanges. So does one with anything to settle that may need a second
 * exchange (is_plain() in exchange.c).
 *
 * Invariants:
 *   - Nothing else is asked of the store while any is out. What it answered would be of a moment
 *     that we do not know yet: a job that a flight has reserved would be found as unknown.
 *   - What a flight settles stays in its rings, sockets and lease table until it has landed: so a
 *     dispatcher may die at any moment, as ever.
 */
#ifndef DISPATCHER_FLIGHTS_H
#define DISPATCHER_FLIGHTS_H

#include "base/base.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queues.h"
#include "dispatcher/workers.h"
#include "process/loop.h"
#include "store/store.h"

struct dispatcher;
struct error;

/* What an exchange brought, and when it was asked for it. */
struct answer {
    struct job_list jobs;
    struct error away; /* why queues are, if any */
    usec_t asked_at;   /* boot time */
    usec_t now;        /* the database's, at that moment */
};

struct flight {
    struct outbox outbox;            /* what it settles */
    struct settlement_list finished; /* the same, for the store */
    struct queue_asking asking;      /* what it asks for */
    struct answer answer;
    size_t room; /* jobs that it asks for */
};

struct flights {
    struct flight items[FLIGHTS_MAX];
    size_t oldest, count; /* of those that are out */
    bool has_news;        /* an answer is there, or is late */
    struct loop_watch watch;
    struct loop_timer timer;
};

bool flights_init(struct flights *flights, size_t queue_count, struct error *err) MUST_CHECK;
void flights_done(struct flights *flights);

/* While none is out: frees what they have grown to. */
void flights_trim(struct flights *flights);

/* How many jobs those that are out have asked for. */
size_t flights_room(const struct flights *flights);

/* Begins one with all that is in the outbox, and up to `room` jobs. When this or a landing fails
 * nothing is lost: the caller abandons all of them. */
bool flights_begin(struct dispatcher *dispatcher, size_t room, struct error *err) MUST_CHECK;

/* Waits for the oldest, and takes in its answer. */
bool flights_land(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* For when their answers never come: what they settle is settled again, and recovery.c finds what
 * they may have reserved. */
void flights_abandon(struct dispatcher *dispatcher);

#endif
