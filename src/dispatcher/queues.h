/*
 * queues.h - which queue is next: the shares of what this pool reserves.
 *
 * A queue that gave less than it was asked for is dry: it is not asked again until the bell rings
 * or the slow scan comes, so an empty, full or paused queue costs nothing and holds up nobody.
 */
#ifndef DISPATCHER_QUEUES_H
#define DISPATCHER_QUEUES_H

#include "base/base.h"
#include "store/store.h"

struct config;
struct error;

struct queue_turn {
    const char *name;
    int weight;
    size_t max_running;
    int64_t credit; /* what it is behind its share, times the sum of weights */
    bool is_dry;
    size_t asked, got;
};

struct queues {
    struct queue_turn *items; /* owned */
    size_t count;
    struct queue_share *shares; /* owned; the last ones that queues_share() made */
};

bool queues_init(struct queues *queues, const struct config *config, struct error *err) MUST_CHECK;
void queues_done(struct queues *queues);

/* There may be something in any of them. */
void queues_wake(struct queues *queues);

/* A job of this queue has ended: if only so many may run, another one may now. */
void queues_note_end(struct queues *queues, const char *queue);
bool queues_are_dry(const struct queues *queues);

/* Splits `room` among those that are not dry, by weight. Returns how many are asked; they are in
 * queues->shares. The sum of their `max` is room, unless all are dry. */
size_t queues_share(struct queues *queues, size_t room);

/* After an exchange: what came of each, then which of those asked are dry. */
void queues_count(struct queues *queues, const char *queue);
void queues_conclude(struct queues *queues);

#endif
