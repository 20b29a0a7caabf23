/*
 * standing.h - all that a change of state needs to know of a stored job.
 *
 * One look at the job, its lease or its end. Whoever changes a job outside of the two fast paths
 * (reserve, a plain ack) loads its standing first and decides on that, so an item that is refused
 * has written nothing.
 */
#ifndef SQLITE_STANDING_H
#define SQLITE_STANDING_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "store/sqlite/file/connection.h"
#include "store/sqlite/parts/place.h"

struct sqlite_standing {
    struct sqlite_place place; /* also while it runs or has ended: where it was */
    struct uuid id;
    char type[JOB_NAME_MAX + 1];
    usec_t run_at, timeout;
    int max_attempts, max_stalls;
    int attempts, stalls;
    int64_t executions;
    char key[JOB_KEY_MAX + 1]; /* "": has none */
    struct keyed_flags update;

    /* The lease, or the last one. */
    bool has_token;
    struct lease_token token;
    usec_t expires_at, started_at, cancel_requested_at;
    char pool[JOB_NAME_MAX + 1]; /* "": none */
    int worker;
    int ended_by; /* enum settlement_kind, or -1 */
};

/* *found_out is false when there is no such job. */
bool sqlite_standing_load(struct sqlite *sqlite, int64_t seq, struct sqlite_standing *standing_out,
                          bool *found_out, struct error *err) MUST_CHECK;
bool sqlite_standing_load_by_id(struct sqlite *sqlite, const struct uuid *id,
                                struct sqlite_standing *standing_out, bool *found_out,
                                struct error *err) MUST_CHECK;

/* By the ref of a reserved job, when it still is that job's; otherwise by id. */
bool sqlite_standing_load_by_ref(struct sqlite *sqlite, int64_t ref, const struct uuid *id,
                                 struct sqlite_standing *standing_out, bool *found_out,
                                 struct error *err) MUST_CHECK;

/* 0 when there is no such job. */
bool sqlite_standing_seq_of(struct sqlite *sqlite, const struct uuid *id, int64_t *seq_out,
                            struct error *err) MUST_CHECK;

/* Its fields as keyed_merge() wants them. */
struct keyed_fields sqlite_standing_fields(const struct sqlite_standing *standing);

#endif
