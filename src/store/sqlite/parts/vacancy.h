/*
 * vacancy.h - room in queues of which only so many jobs may run.
 *
 * Whoever finds such a queue full marks it and sleeps; whoever ends a lease of a marked queue takes
 * the mark back and rings the bell. A queue that is full again at the end of the same transaction
 * wakes nobody, so pools that keep a queue full do not keep each other awake. A queue that nobody
 * waits for costs one look at its row per transaction that ended leases of it, and none if the
 * same transaction reserves from it.
 */
#ifndef SQLITE_VACANCY_H
#define SQLITE_VACANCY_H

#include "base/base.h"
#include "base/error.h"

struct sqlite;

/* The queues of which the transaction has ended leases. */
struct sqlite_vacancies {
    int64_t *queue_ids; /* owned */
    size_t count;
    size_t capacity;
};

/* A lease of the queue has ended. */
bool sqlite_vacancy_note(struct sqlite *sqlite, int64_t queue_id, struct error *err) MUST_CHECK;

/* Nobody has to be woken for what has ended before: the queue is full again, or nobody waits. */
void sqlite_vacancy_forget(struct sqlite *sqlite, int64_t queue_id);

/* Somebody waits for room in the queue. */
bool sqlite_vacancy_await(struct sqlite *sqlite, int64_t queue_id, struct error *err) MUST_CHECK;

/* Before the transaction is committed: decides whether the bell has to be rung. */
bool sqlite_vacancy_announce(struct sqlite *sqlite, struct error *err) MUST_CHECK;

void sqlite_vacancies_done(struct sqlite_vacancies *vacancies);

#endif
