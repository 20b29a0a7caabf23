/*
 * tally.h - how many jobs of each state a queue has.
 *
 * Counting rows costs what is stored, so `queue` has the numbers. A transaction adds up what it
 * moves, and writes each queue that it moved jobs of once, before it commits.
 */
#ifndef SQLITE_TALLY_H
#define SQLITE_TALLY_H

#include "base/base.h"
#include "base/error.h"
#include "job/job.h"

struct sqlite;

/* What a transaction has changed of one queue. */
struct sqlite_tally {
    int64_t queue_id;
    int64_t jobs[JOB_STATES];
    int64_t aside[JOB_ASIDES]; /* of the ready ones */
    int64_t done, failed;      /* executions, for ever */
};

struct sqlite_tallies {
    struct sqlite_tally *items; /* owned */
    size_t count;
    size_t capacity;
};

/* So many more jobs of this state, or fewer. */
bool sqlite_tally_jobs(struct sqlite *sqlite, int64_t queue_id, enum job_state state,
                       int64_t change, struct error *err) MUST_CHECK;

/* So many more of the ready ones are aside for this reason, or fewer. */
bool sqlite_tally_aside(struct sqlite *sqlite, int64_t queue_id, enum job_aside why, int64_t change,
                        struct error *err) MUST_CHECK;

/* Executions that were done, and that failed. */
bool sqlite_tally_executions(struct sqlite *sqlite, int64_t queue_id, int64_t done, int64_t failed,
                             struct error *err) MUST_CHECK;

/* Before the transaction is committed. */
bool sqlite_tally_write(struct sqlite *sqlite, struct error *err) MUST_CHECK;

void sqlite_tallies_done(struct sqlite_tallies *tallies);

#endif
