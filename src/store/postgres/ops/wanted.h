/*
 * wanted.h - the part of an exchange that reserves, as parameters: whose jobs, how many of each
 * queue, and from where on to look for them.
 */
#ifndef POSTGRES_WANTED_H
#define POSTGRES_WANTED_H

#include "base/base.h"
#include "store/postgres/net/connection.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/queue_names.h"

/* Several reservations, whose shares are numbered through, from 1 on. */
struct pg_wanted {
    const struct reservation *items;
    size_t count; /* 0: nothing is wanted */
    usec_t now, lead;
};

/* `queues` has the names that the statement has been given. */
bool pg_wanted_bind(struct postgres *postgres, const struct pg_wanted *wanted,
                    struct pg_queue_names *queues, struct pg_statement *call,
                    struct error *err) MUST_CHECK;

/* The share with this number, and the number of its reservation, from 0 on. */
struct pg_wanted_share {
    size_t reservation;
    const struct queue_share *share;
    struct share_limit *limit; /* where to say why it gave less; or NULL */
};

struct pg_wanted_share pg_wanted_share(const struct pg_wanted *wanted, size_t number);

/* Whether any of them wants certain types. */
bool pg_wanted_has_types(const struct pg_wanted *wanted);

#endif
