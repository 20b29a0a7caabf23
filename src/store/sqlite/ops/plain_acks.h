/*
 * plain_acks.h - acks of jobs without key, error, output or earlier run, which nobody has to look
 * at first. For settle.c, inside its transaction.
 */
#ifndef SQLITE_PLAIN_ACKS_H
#define SQLITE_PLAIN_ACKS_H

#include "base/base.h"
#include "job/settlement.h"
#include "store/sqlite/file/connection.h"

/* Those whose leases are in batches: settled_out says which. What else is settled there has a lease
 * of its own afterwards. */
bool sqlite_plain_acks_batches(struct sqlite *sqlite, const struct settlement_list *finished,
                               usec_t now, bool *settled_out, struct error *err) MUST_CHECK;

/* One that has a lease of its own. */
bool sqlite_plain_acks_one(struct sqlite *sqlite, const struct settlement *settlement, usec_t now,
                           bool *settled_out, struct error *err) MUST_CHECK;

#endif
