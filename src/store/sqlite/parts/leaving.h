/*
 * leaving.h - a running job leaves its lease: for good, or back to waiting.
 *
 * The one code path that gives jobs back. Settlements and leases that ran out both come here, so
 * both are counted, both respect a cancel request, and both take care of a blocked twin.
 */
#ifndef SQLITE_LEAVING_H
#define SQLITE_LEAVING_H

#include "base/base.h"
#include "job/job.h"
#include "store/sqlite/file/connection.h"
#include "store/sqlite/parts/ending.h"
#include "store/sqlite/parts/standing.h"

/* The lease alone, of a job that is not there any more. */
bool sqlite_leaving_drop_lease(struct sqlite *sqlite, int64_t seq, int64_t queue_id,
                               struct error *err) MUST_CHECK;

/* For good. `standing` has the counts as they shall be. */
bool sqlite_leaving_end(struct sqlite *sqlite, const struct sqlite_standing *standing,
                        const struct sqlite_ending *ending, usec_t now,
                        struct error *err) MUST_CHECK;

/* Back to waiting in `state`, with place, run_at and counts as `standing` says. */
bool sqlite_leaving_return(struct sqlite *sqlite, struct sqlite_standing *standing,
                           enum job_state state, usec_t now, struct error *err) MUST_CHECK;

/* Adds to the job's newest executions. */
bool sqlite_leaving_record_run(struct sqlite *sqlite, const struct sqlite_standing *standing,
                               const struct job_run *run, struct error *err) MUST_CHECK;

#endif
