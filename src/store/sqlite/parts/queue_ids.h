/*
 * queue_ids.h - queue names to their numbers, remembered per connection.
 *
 * Queues are never removed, so a number once committed stays true. Those added in a transaction
 * that is undone are forgotten with it.
 */
#ifndef SQLITE_QUEUE_IDS_H
#define SQLITE_QUEUE_IDS_H

#include "base/base.h"
#include "base/error.h"

struct sqlite;

struct queue_id {
    char *name; /* owned */
    int64_t id;
};

struct queue_ids {
    struct queue_id *items; /* owned; by name */
    size_t count;
    size_t capacity;
};

/* *id_out is 0 when there is no such queue. */
bool queue_find(struct sqlite *sqlite, const char *name, int64_t *id_out,
                struct error *err) MUST_CHECK;

/* Adds it if need be; inside a write transaction. */
bool queue_find_or_add(struct sqlite *sqlite, const char *name, int64_t *id_out,
                       struct error *err) MUST_CHECK;

void queue_ids_done(struct queue_ids *queues);

#endif
