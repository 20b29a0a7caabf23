/*
 * lease_table.h - shared memory: every job handed out, who started it, when it must stop.
 *
 * One entry per job that this pool holds. Three processes meet in it without a lock, so none of
 * them can leave one locked when it is killed:
 *
 *   dispatcher   fills and frees entries; the only one that does
 *   worker       moves an entry from handed to started to finished
 *   heartbeater  reads what is held; confirms leases; flags those that are lost or to be cancelled
 *
 * What a worker may change is one atomic word per entry:
 *
 *   from      to         by
 *   free      handed     dispatcher   lease_table_hand(); a new generation
 *   handed    started    worker       lease_table_start(): it runs the job, nobody else can
 *   handed    revoked    dispatcher   lease_table_revoke(): nobody will start it any more
 *   started   finished   worker       lease_table_finish(): its result has been sent
 *   any       free       dispatcher   lease_table_free(): settled
 *
 * Started and revoked exclude each other by compare-and-swap; the loser drops the job. Every change
 * names the generation, so that whoever comes late, with an entry that has been used again, changes
 * nothing. When a lease must be given up is a word of its own, which workers can only read; ids,
 * tokens and queues are in a part that they do not map, and so is whether an entry is held at all:
 * a worker that overwrites words hides who has started which job, and nothing else.
 */
#ifndef PROCESS_LEASE_TABLE_H
#define PROCESS_LEASE_TABLE_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "job/lease.h"

struct error;
struct lease_table;

enum hold_state {
    HOLD_FREE,
    HOLD_HANDED,
    HOLD_STARTED,
    HOLD_FINISHED,
    HOLD_REVOKED,
    HOLD_UNKNOWN, /* held, but its word was overwritten; for those that see more than the words */
};

/* One use of one entry. */
struct hold {
    uint32_t entry;
    uint32_t generation;
};

#define HOLD_NONE ((struct hold){UINT32_MAX, 0}) /* of no entry */

static inline bool hold_equal(struct hold a, struct hold b)
{
    return a.entry == b.entry && a.generation == b.generation;
}

/* What proves that the job is ours. */
struct held_lease {
    struct uuid job;
    struct lease_token token;
    int64_t ref;
    char queue[JOB_NAME_MAX + 1];
};

/* What the heartbeater found out about a lease. */
#define LEASE_LOST     1u /* the store says that it is not ours any more */
#define LEASE_CANCELED 2u /* somebody asked to stop the job */

/* Before the processes are forked; all of them share it. */
bool lease_table_open(size_t capacity, struct lease_table **table_out,
                      struct error *err) MUST_CHECK;
void lease_table_close(struct lease_table **table);
size_t lease_table_capacity(const struct lease_table *table);

/* In a worker, first thing: unmaps what is not its business, and write-protects what it may only
 * read. Only start, finish, stop_at, state may be called from then on. */
bool lease_table_restrict(struct lease_table *table, struct error *err) MUST_CHECK;

/* ---- the dispatcher ---- */

/* Looks at every entry that is not free: for a dispatcher that starts while jobs run. */
struct hold_view {
    struct hold hold;
    enum hold_state state;
    uint32_t worker; /* serial of the worker that started it; 0: none did */
    struct held_lease lease;
};
bool lease_table_next(const struct lease_table *table, size_t *position,
                      struct hold_view *view_out);

/* False when the table is full, or no memory is left to see whether it is. `stop_at`, on
 * clock_boot(): when a run has to be given up unless the lease is confirmed before. */
bool lease_table_hand(struct lease_table *table, const struct held_lease *lease, usec_t stop_at,
                      struct hold *hold_out) MUST_CHECK;
bool lease_table_revoke(struct lease_table *table, struct hold hold) MUST_CHECK;

/* One whose word cannot be right is started by this worker, as was found out. */
void lease_table_mend(struct lease_table *table, struct hold hold, uint32_t worker);
void lease_table_free(struct lease_table *table, struct hold hold);
unsigned lease_table_flags(const struct lease_table *table, struct hold hold);

/* Whether it is, or once was, a use of an entry: a worker that overwrote its memory may name
 * anything. */
bool lease_table_was_handed(const struct lease_table *table, struct hold hold);

/* ---- workers ---- */

/* False when it was taken back: drop the job. `worker` is the worker's serial. */
bool lease_table_start(struct lease_table *table, struct hold hold, uint32_t worker) MUST_CHECK;
void lease_table_finish(struct lease_table *table, struct hold hold, uint32_t worker);

/* When the run must be given up, on clock_boot(), as confirmed so far; 0: at once, the entry is not
 * this job's any more. */
usec_t lease_table_stop_at(const struct lease_table *table, struct hold hold);

/* ---- anybody ---- */

/* HOLD_FREE also when the entry has been used again since. `worker_out` may be NULL. */
enum hold_state lease_table_state(const struct lease_table *table, struct hold hold,
                                  uint32_t *worker_out);

/* Whether this worker has started a job that it has not finished. */
bool lease_table_is_running(const struct lease_table *table, uint32_t worker);

/* ---- the heartbeater, with lease_table_next() ---- */

/* The lease holds until lease_ends_at(stop_at). Never moves it back. */
void lease_table_confirm(struct lease_table *table, struct hold hold, usec_t stop_at);

/* Adds flags; true when one of them is new. */
bool lease_table_flag(struct lease_table *table, struct hold hold, unsigned flags);

#endif
