/*
 * twins.h - the two jobs that may share a key: one that waits, one that runs.
 */
#ifndef SQLITE_TWINS_H
#define SQLITE_TWINS_H

#include "base/base.h"
#include "job/keyed.h"
#include "store/sqlite/file/connection.h"
#include "store/sqlite/parts/standing.h"

struct sqlite_twins {
    int64_t waiting, running; /* seq; 0: none */
};

bool sqlite_twins_load(struct sqlite *sqlite, int64_t queue_id, const char *key,
                       struct sqlite_twins *twins_out, struct error *err) MUST_CHECK;
bool sqlite_twins_store(struct sqlite *sqlite, int64_t queue_id, const char *key,
                        const struct sqlite_twins *twins, struct error *err) MUST_CHECK;

/* Writes a merge into the job's row. Its place is the caller's business. */
bool sqlite_twins_write_merge(struct sqlite *sqlite, int64_t seq, const struct keyed_fields *fields,
                              struct keyed_flags update, struct error *err) MUST_CHECK;

/* The job of this standing runs no more and does not return: its blocked twin, if any, is ready or
 * scheduled now. For jobs without a key nothing happens. */
bool sqlite_twins_running_ended(struct sqlite *sqlite, const struct sqlite_standing *standing,
                                usec_t now, struct error *err) MUST_CHECK;

/* It returns to waiting: its blocked twin, if any, is merged into it and ends as cancelled. The
 * standing is changed as the merge says; *moved_out tells whether its due was set by it. */
bool sqlite_twins_running_returns(struct sqlite *sqlite, struct sqlite_standing *standing,
                                  usec_t now, bool *moved_out, struct error *err) MUST_CHECK;

/* The waiting or blocked one of this standing leaves for good. */
bool sqlite_twins_waiting_left(struct sqlite *sqlite, const struct sqlite_standing *standing,
                               struct error *err) MUST_CHECK;

#endif
