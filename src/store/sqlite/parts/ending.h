/*
 * ending.h - a job's last row, and its removal.
 */
#ifndef SQLITE_ENDING_H
#define SQLITE_ENDING_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "job/state.h"
#include "store/sqlite/file/connection.h"
#include "store/sqlite/parts/standing.h"

/* How a job ended, beside its standing. */
struct sqlite_ending {
    enum job_state state;
    bool is_plain;             /* nothing is in detail or run */
    bool settled;              /* by a settlement of this kind: the same again is a success */
    int ended_by;              /* enum settlement_kind */
    const struct job_run *run; /* done jobs: kept in the row; NULL otherwise */
    struct uuid merged_into;   /* nil: was not merged */
};

/* Adds the row to `ended`; the job's place or lease is removed by the caller. */
bool sqlite_ending_write(struct sqlite *sqlite, const struct sqlite_standing *standing,
                         const struct sqlite_ending *ending, usec_t now,
                         struct error *err) MUST_CHECK;

/* Takes the row away again. */
bool sqlite_ending_leave(struct sqlite *sqlite, const struct sqlite_place *place,
                         struct error *err) MUST_CHECK;

/* Everything the job left in any table but its lease and its idempotency record. Its place says the
 * state that it ended in; `traces` is that of its row. */
bool sqlite_ending_forget(struct sqlite *sqlite, const struct sqlite_place *place, bool traces,
                          struct error *err) MUST_CHECK;

#endif
