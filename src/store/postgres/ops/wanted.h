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

/* `queues` has the names that the statement has been given. Wanted is NULL: nothing. */
bool pg_wanted_bind(struct postgres *postgres, const struct reservation *wanted, usec_t now,
                    struct pg_queue_names *queues, struct pg_statement *call,
                    struct error *err) MUST_CHECK;

#endif
