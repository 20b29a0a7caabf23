/*
 * savepoint.h - a part of a transaction that can be taken back while the rest goes on.
 *
 * It has in it what the transaction keeps in memory until it is committed, as far as jobs that come
 * in change that: the numbers of queues, and the bell.
 */
#ifndef SQLITE_SAVEPOINT_H
#define SQLITE_SAVEPOINT_H

#include "store/sqlite/file/connection.h"

struct sqlite_savepoint {
    struct sqlite_tally *tallies; /* owned */
    size_t count;
    bool ring;
};

/* One at a time. It ends with release or go_back, or with the transaction. */
bool sqlite_savepoint_set(struct sqlite *sqlite, struct sqlite_savepoint *savepoint_out,
                          struct error *err) MUST_CHECK;
bool sqlite_savepoint_release(struct sqlite *sqlite, struct error *err) MUST_CHECK;

/* Everything is as it was when it was set. */
bool sqlite_savepoint_go_back(struct sqlite *sqlite, const struct sqlite_savepoint *savepoint,
                              struct error *err) MUST_CHECK;

void sqlite_savepoint_done(struct sqlite_savepoint *savepoint);

#endif
