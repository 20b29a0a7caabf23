/*
 * queues.h - queue names to their numbers, remembered per connection.
 *
 * Queues are never removed, so a number once committed stays true. Those added in a transaction
 * that is undone are forgotten with it.
 */
#ifndef SQLITE_QUEUES_H
#define SQLITE_QUEUES_H

#include "base/base.h"
#include "base/error.h"

struct sqlite;

struct sqlite_queue {
    char *name; /* owned */
    int64_t id;
};

struct sqlite_queues {
    struct sqlite_queue *items; /* owned; by name */
    size_t count;
    size_t capacity;
};

/* *id_out is 0 when there is no such queue. */
bool sqlite_queues_find(struct sqlite *sqlite, const char *name, int64_t *id_out,
                        struct error *err) MUST_CHECK;

/* Adds it if need be; inside a write transaction. */
bool sqlite_queues_find_or_add(struct sqlite *sqlite, const char *name, int64_t *id_out,
                               struct error *err) MUST_CHECK;

void sqlite_queues_done(struct sqlite_queues *queues);

#endif
