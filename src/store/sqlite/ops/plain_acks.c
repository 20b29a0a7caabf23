/*
 * plain_acks.c - acks of jobs without key, error, output or earlier run.
 *
 * Of a batch the row is read once, compared with all that names it, and written once; its jobs are
 * not looked at. Without a batch the token is compared by the statement that removes the
 * lease. What fits neither way is left for the long one in settle.c.
 */
#include "store/sqlite/ops/plain_acks.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/parts/batch.h"
#include "store/sqlite/parts/ending.h"

#include <stdio.h>
#include <stdlib.h>

/* Whatever the execution does not tell has to be taken from the lease. */
static bool tells_all(const struct settlement *settlement)
{
    const struct job_run *run = &settlement->run;

    return settlement->has_run && run->pool && run->worker != 0 && run->started_at != 0;
}

static bool is_plain(const struct settlement *settlement)
{
    return settlement->kind == SETTLE_ACK && settlement->ref != 0 &&
           !settlement_tells(settlement) && (settlement->forget || tells_all(settlement));
}

/* ---- the end of the job ---- */

/* The row that sqlite_ending_write() would write for a first execution. */
static bool write_end(struct sqlite *sqlite, const struct settlement *settlement, int64_t queue_id,
                      usec_t now, struct error *err)
{
    const struct job_run *run = &settlement->run;
    struct sqlite_standing standing = {
        .place = {.seq = settlement->ref, .queue_id = queue_id},
        .executions = 1,
        .has_token = true,
        .token = settlement->token,
        .worker = run->worker,
        .started_at = run->started_at,
    };
    struct sqlite_ending ending = {
        .state = JOB_DONE,
        .settled = true,
        .is_plain = true,
        .ended_by = SETTLE_ACK,
        .run = run,
    };

    snprintf(standing.pool, sizeof standing.pool, "%s", run->pool);
    return sqlite_ending_write(sqlite, &standing, &ending, now, err);
}

/* So many leases of the queue are over, and their jobs done. */
static bool count_ends(struct sqlite *sqlite, int64_t queue_id, int64_t count, struct error *err)
{
    return sqlite_tally_executions(sqlite, queue_id, count, 0, err) &&
           sqlite_tally_jobs(sqlite, queue_id, JOB_RUNNING, -count, err) &&
           sqlite_vacancy_note(sqlite, queue_id, err);
}

/* ---- a batch ---- */

/* One call of sqlite_plain_acks_batches(). */
struct acking {
    struct sqlite *sqlite;
    const struct settlement_list *finished;
    usec_t now;
    bool *seen; /* batches with this one's token were looked for */
    bool *settled;
};

/* Jobs to forget whose seqs follow each other. */
struct run {
    int64_t first, last; /* 0: none */
};

static bool remove_run(struct sqlite *sqlite, struct run *run, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_JOB_REMOVE_RUN);

    if (run->first == 0)
        return true;
    sqlite_query_int(&query, run->first);
    sqlite_query_int(&query, run->last);
    *run = (struct run){0};
    return sqlite_query_run(&query, err);
}

static bool forget(struct sqlite *sqlite, struct run *run, int64_t seq, struct error *err)
{
    if (run->first != 0 && run->last + 1 != seq && !remove_run(sqlite, run, err))
        return false;
    run->first = run->first != 0 ? run->first : seq;
    run->last = seq;
    return true;
}

/* Which ack ends each of the batch's leases. What is no plain ack, comes too late or leads to
 * another job gets the lease for itself, and is judged by that. */
static bool gather(struct acking *acking, struct sqlite_batch *batch, size_t from,
                   const struct settlement **acks_out, struct error *err)
{
    const struct settlement *items = acking->finished->items;
    const bool is_over = lease_has_expired(batch->expires_at, acking->now);

    for (size_t i = from; i < acking->finished->count; i++) {
        if (lease_token_compare_batches(&items[i].token, &items[from].token) != 0)
            continue;
        const size_t index = sqlite_batch_index(batch, &items[i].token);
        if (index == SQLITE_BATCH_NONE || acks_out[index])
            continue;
        if (!is_over && is_plain(&items[i]) && items[i].ref == batch->seqs[index]) {
            acks_out[index] = &items[i];
            acking->settled[i] = true;
        } else if (!sqlite_batch_unpack(acking->sqlite, batch, index, err)) {
            return false;
        }
    }
    return true;
}

static bool end_members(struct acking *acking, struct sqlite_batch *batch,
                        const struct settlement *const *acks, struct error *err)
{
    struct sqlite *sqlite = acking->sqlite;
    const int64_t before = (int64_t)batch->open;
    struct run run = {0};

    for (size_t i = 0; i < batch->count; i++) {
        if (!acks[i])
            continue;
        sqlite_batch_leave(batch, i);
        if (!(acks[i]->forget ? forget(sqlite, &run, acks[i]->ref, err)
                              : write_end(sqlite, acks[i], batch->queue_id, acking->now, err)))
            return false;
    }
    return remove_run(sqlite, &run, err) &&
           count_ends(sqlite, batch->queue_id, before - (int64_t)batch->open, err);
}

static bool settle_batch(struct acking *acking, struct sqlite_batch *batch, size_t from,
                         struct error *err)
{
    AUTO_FREE const struct settlement **acks = calloc(batch->count, sizeof(struct settlement *));

    if (!acks)
        return error_no_memory(err);
    return gather(acking, batch, from, acks, err) && end_members(acking, batch, acks, err) &&
           sqlite_batch_save(acking->sqlite, batch, err);
}

/* The batches that this settlement's token leads to, and all settlements that are about them. */
static bool settle_token(struct acking *acking, size_t from, struct error *err)
{
    CLEANUP(sqlite_batch_done) struct sqlite_batch batch = {0};
    const struct settlement *items = acking->finished->items;
    bool found;

    for (;;) {
        if (!sqlite_batch_next(acking->sqlite, &items[from].token, &batch, &found, err))
            return false;
        if (!found)
            break;
        if (!settle_batch(acking, &batch, from, err))
            return false;
    }
    for (size_t i = from; i < acking->finished->count; i++)
        acking->seen[i] = acking->seen[i] ||
                          lease_token_compare_batches(&items[i].token, &items[from].token) == 0;
    return true;
}

bool sqlite_plain_acks_batches(struct sqlite *sqlite, const struct settlement_list *finished,
                               usec_t now, bool *settled_out, struct error *err)
{
    AUTO_FREE bool *seen = calloc(finished->count + 1, sizeof *seen);
    struct acking acking = {
        .sqlite = sqlite, .finished = finished, .now = now, .seen = seen, .settled = settled_out};

    if (!seen)
        return error_no_memory(err);
    for (size_t i = 0; i < finished->count; i++)
        if (!seen[i] && !settle_token(&acking, i, err))
            return false;
    return true;
}

/* ---- a lease of its own ---- */

static bool take_lease(struct sqlite *sqlite, const struct settlement *settlement, int64_t queue_id,
                       usec_t now, bool *taken_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_LEASE_TAKE_PLAIN);

    sqlite_query_int(&query, settlement->ref);
    sqlite_query_int(&query, queue_id);
    sqlite_query_token(&query, &settlement->token);
    sqlite_query_int(&query, now);
    if (!sqlite_query_run(&query, err))
        return false;
    *taken_out = sqlite_query_changes(&query) == 1;
    return true;
}

bool sqlite_plain_acks_one(struct sqlite *sqlite, const struct settlement *settlement, usec_t now,
                           bool *settled_out, struct error *err)
{
    int64_t queue_id;

    *settled_out = false;
    if (!is_plain(settlement))
        return true;
    if (!sqlite_queues_find(sqlite, settlement->queue, &queue_id, err))
        return false;
    if (queue_id == 0)
        return true;
    if (!take_lease(sqlite, settlement, queue_id, now, settled_out, err))
        return false;
    if (!*settled_out)
        return true;
    return count_ends(sqlite, queue_id, 1, err) &&
           (settlement->forget ? sqlite_query_on_seq(sqlite, SQL_JOB_REMOVE, settlement->ref, err)
                               : write_end(sqlite, settlement, queue_id, now, err));
}
