/*
 * queues.h - which queue is next: the shares of what this pool reserves.
 *
 *   from        event                                    to
 *   open        gave less than it was asked for          dry full limited
 *   dry, full   the bell rings, or the slow scan comes   open
 *   full        a job of it has ended in this pool       open
 *   dry, full   gave all, to an exchange that was out    open
 *   limited     its time has come                        open
 *
 * A queue that is away, because the part of the store that has it does not answer, is limited: a
 * cluster has its queues on several nodes, and one of them is down, or a slot moves.
 *
 * Only open ones are asked, so a queue that cannot give costs nothing and holds up nobody.
 */
#ifndef DISPATCHER_QUEUES_H
#define DISPATCHER_QUEUES_H

#include "base/base.h"
#include "base/units.h"
#include "store/store.h"

struct config;
struct error;

enum queue_state {
    QUEUE_OPEN,
    QUEUE_DRY,     /* nothing is ready, or it is paused */
    QUEUE_FULL,    /* something is ready, but as many run as may */
    QUEUE_LIMITED, /* something may be ready, but its rate is used up, or it is away */
};

struct queue_turn {
    const char *name;
    int weight;
    size_t max_running;
    struct units_rate rate;
    int64_t had; /* jobs by their cost, more than the open queue that had least */
    enum queue_state state;
    usec_t limited_until; /* boot time */
    bool is_away;         /* as of when it was asked last */
    usec_t lost_at;       /* boot time at which people were told so; 0: they were not */
    size_t asked;         /* while the shares are made */
};

/* What is asked for with one exchange, and what comes of it. */
struct queue_asking {
    struct queue_share *shares; /* owned */
    struct share_limit *limits; /* owned; what the store said about each of them */
    size_t *got;                /* owned; jobs of each of them */
    size_t count;
};

struct queues {
    struct queue_turn *items; /* owned */
    size_t count;
    /* The last ones that queues_share() made. */
    struct queue_asking asking;
};

bool queue_asking_init(struct queue_asking *asking, size_t queue_count,
                       struct error *err) MUST_CHECK;
void queue_asking_done(struct queue_asking *asking);

bool queues_init(struct queues *queues, const struct config *config, struct error *err) MUST_CHECK;
void queues_done(struct queues *queues);

/* There may be something in any of them; those that are limited have to wait all the same. */
void queues_wake(struct queues *queues);

/* Whether any of them waits for a job of it to end. */
bool queues_have_full(const struct queues *queues);

/* A job of this queue has ended, or is about to with the next exchange. */
void queues_note_end(struct queues *queues, const char *queue);

/* Opens those whose time has come. Returns when the next one's will, or 0. In boot time. */
usec_t queues_note_time(struct queues *queues, usec_t now);

/* Whether any is open. */
bool queues_may_give(const struct queues *queues);

/* Whether nothing is ready in any of them, as far as is known. */
bool queues_are_dry(const struct queues *queues);

/* Whether not one of them answered when it was asked last. */
bool queues_are_away(const struct queues *queues);

/* Whether any of them did not. */
bool queues_miss_any(const struct queues *queues);

/* Splits `room` among those that are open, by weight. Returns how many are asked; they are in
 * queues->asking. The sum of their `max` is room, unless none is open. */
size_t queues_share(struct queues *queues, size_t room);

/* For another exchange before that one is concluded: its shares are kept, and come back before it
 * is. */
void queues_swap_asking(struct queues *queues, struct queue_asking *asking);

/* After an exchange: what came of each, then what becomes of those that gave less than was asked
 * for. `clock_shift` is boot time minus the database's. */
void queues_count(struct queues *queues, const char *queue);
void queues_conclude(struct queues *queues, usec_t clock_shift);

/* Then tells people which are away now, and `why`, and which are back. False when all are away:
 * then the store is. *any_back_out: one is, and may have reserved for us what we do not know of. */
bool queues_tell_away(struct queues *queues, const struct error *why, usec_t now,
                      bool *any_back_out, struct error *err) MUST_CHECK;

#endif
