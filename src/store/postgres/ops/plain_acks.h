/*
 * plain_acks.h - the acks of an exchange that have nothing to tell but how the run went: they are
 * settled together, as arrays. Most are like that.
 */
#ifndef POSTGRES_PLAIN_ACKS_H
#define POSTGRES_PLAIN_ACKS_H

#include "base/base.h"
#include "job/settlement.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/queue_names.h"

/* Of one queue, one wish to forget, and one batch or none. */
struct pg_ack_group {
    size_t first, count; /* in `items` */
};

struct pg_plain_acks {
    const struct settlement *first;  /* of the list that they are in */
    const struct settlement **items; /* owned; in groups */
    size_t count;
    struct pg_ack_group *groups; /* owned */
    size_t group_count;
};

/* Takes those of the list that are plain: none when a job comes twice, for then the order counts.
 */
bool pg_plain_acks_take(struct pg_plain_acks *acks, const struct settlement_list *finished,
                        struct error *err) MUST_CHECK;

/* Whether the settlement was taken. */
bool pg_plain_acks_have(const struct pg_plain_acks *acks, const struct settlement *settlement);

/* `queues` has their names, which the statement has been given. */
bool pg_plain_acks_bind(const struct pg_plain_acks *acks, struct pg_queue_names *queues,
                        struct pg_statement *call, struct error *err) MUST_CHECK;

void pg_plain_acks_done(struct pg_plain_acks *acks);

#endif
