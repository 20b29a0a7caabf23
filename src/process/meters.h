/*
 * meters.h - shared memory: what this pool has done since it was started, as numbers that only
 * grow.
 *
 * Whoever does something counts it here; meters_write() shows all of it (meters_text.h), and what
 * ran lately goes into the pool's heartbeat. It outlives every process but the master: a reload
 * changes nothing, and the next thd after USR2 begins at zero.
 *
 * Three parts, each on pages of its own:
 *
 *   jobs       the dispatcher   attempts, runs, waits, refusals
 *   services   all with a store, and the master
 *   doors      http             requests
 *
 * A worker has none of it, and a door writes only its own. What has one writer is counted by a load
 * and a store; no word is ever locked. Where there are no meters, as in tests, nothing is counted:
 * all functions take NULL.
 */
#ifndef PROCESS_METERS_H
#define PROCESS_METERS_H

#include "base/base.h"
#include "job/job.h"
#include "process/recent_runs.h"

#include <taskharbor/error.h>

struct error;
struct meters;

/* What the store is asked to do. */
enum store_work {
    STORE_EXCHANGE,
    STORE_HEARTBEAT,
    STORE_PROMOTE,
    STORE_REAP,
    STORE_LOOK,
    STORE_WORKS,
};

/* Before the processes are forked. */
bool meters_open(struct meters **meters_out, struct error *err) MUST_CHECK;
void meters_close(struct meters **meters);

/* In a worker, first thing: unmaps them. In a door: what is not its own becomes read-only. */
bool meters_restrict(struct meters *meters, struct error *err) MUST_CHECK;
bool meters_restrict_door(struct meters *meters, struct error *err) MUST_CHECK;

/* ---- the dispatcher ---- */

/* A run that is over, and whose end the store has recorded. `now` is the database's time. */
struct meters_run {
    const char *type, *queue;
    enum run_outcome outcome;
    usec_t now, wall, wait;
};
void meters_add_run(struct meters *meters, const struct meters_run *run);
void meters_add_refusal(struct meters *meters);

/* ---- services ---- */

void meters_add_lost_lease(struct meters *meters);                   /* the heartbeater */
void meters_add_restart(struct meters *meters, const char *process); /* the master */
void meters_add_enqueued(struct meters *meters, const char *queue, size_t count); /* the gate */

/* By whoever has a store: one that was begun at this boot time is over; and it is away. */
void meters_add_store_work(struct meters *meters, enum store_work work, usec_t begun_at);
void meters_add_store_error(struct meters *meters, enum th_error_code code);

/* ---- http ---- */

/* `route` is a pattern such as "/api/jobs/{id}"; NULL: there is no such path. */
void meters_add_request(struct meters *meters, const char *route, int status, usec_t took);

/* ---- anybody ---- */

/* The types at `*position` and above that ran lately, one after the other. False: no more. */
bool meters_next_recent(const struct meters *meters, usec_t now, size_t *position,
                        const char **type_out, struct recent_sum *sum_out);

#endif
