/*
 * queue_names.h - the queues that a call is about, each once, so that arrays can name them by
 * number.
 */
#ifndef POSTGRES_QUEUE_NAMES_H
#define POSTGRES_QUEUE_NAMES_H

#include "base/base.h"
#include "base/error.h"

struct pg_statement;

struct pg_queue_names {
    const char **items; /* owned; the names are not */
    size_t count;
};

/* The number of the queue, from 1 on; 0 when out of memory. */
int pg_queue_names_add(struct pg_queue_names *names, const char *queue) MUST_CHECK;

/* All of them, as a parameter. */
void pg_queue_names_bind(const struct pg_queue_names *names, struct pg_statement *statement);

void pg_queue_names_done(struct pg_queue_names *names);

#endif
