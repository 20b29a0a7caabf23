/*
 * legs.h - an exchange in parts, each of which is one command to one queue.
 *
 *     settlements of a queue, and the first share that wants something of it    one leg
 *     each further share                                                        one leg
 *
 * A reservation with max_total over several queues is rationed: no queue may be asked for what
 * another one gives. Its first queue is asked at once for all that may be had, and beside that the
 * others are only looked at. Those that have nothing are never asked; the others share what is
 * left, in their order, by what they have. So a claim is one round trip when its first queue has
 * enough or all are empty, and two most of the time.
 *
 * The tokens' indexes are dealt out before anybody knows how many jobs each queue has: a leg starts
 * where the one before it would end if it gave all that it is asked for.
 */
#ifndef REDIS_LEGS_H
#define REDIS_LEGS_H

#include "base/base.h"
#include "base/error.h"
#include "store/store.h"

/* A reservation. */
struct redis_claim {
    const struct reservation *wanted;
    const char *pool; /* as the jobs point to it */
    uint32_t next_index;
    size_t left;      /* of its total; SIZE_MAX: it has none */
    bool is_rationed; /* several queues share it */
};

enum redis_turn {
    REDIS_TURN_NOW,   /* it is asked in this round */
    REDIS_TURN_LOOK,  /* it is looked at in this round */
    REDIS_TURN_LATER, /* it has something, and may be asked */
    REDIS_TURN_OVER,
};

struct redis_leg {
    const char *queue;
    size_t settlements, from;        /* how many, and where they begin in the order */
    const struct queue_share *share; /* NULL: nothing is wanted of it */
    struct redis_claim *claim;       /* that the share is of */
    struct share_limit *limit;       /* where to say why it gave less; or NULL */
    enum redis_turn turn;
    size_t command; /* of this round */
    size_t has;     /* as it was seen */
    size_t max;     /* that it is asked for */
    uint32_t first; /* index of its first token */
    size_t taken;
    const char *behind; /* the ready member up to which types were looked for */
    size_t looked;      /* how many members that was */
};

struct redis_legs {
    struct redis_leg *items;    /* owned */
    struct redis_claim *claims; /* owned */
    size_t count, claim_count;
    size_t *leg_of; /* owned; of each settlement; REDIS_NO_LEG: it is put off */
    size_t *order;  /* owned; the numbers of the settlements, leg by leg, as they are answered */
};

#define REDIS_NO_LEG SIZE_MAX

/* Room for all there can be; no settlement is put off yet. */
bool redis_legs_init(struct redis_legs *legs, size_t settlements, const struct reservation *wanted,
                     size_t wanted_count, struct error *err) MUST_CHECK;
void redis_legs_done(struct redis_legs *legs);

/* The first round. */
void redis_legs_divide(struct redis_legs *legs, const struct settlement_list *finished);

/* The next round, once this one was heard. Answers whether anybody is to be asked. */
bool redis_legs_go_on(struct redis_legs *legs);

#endif
