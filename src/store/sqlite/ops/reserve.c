/*
 * reserve.c - ready jobs get a lease.
 *
 * Per queue: leases that ran out are taken back, then the first jobs in line are read, then each of
 * them moves from `ready` to `lease`. Reading comes before moving, because a scan must not run
 * over a tree that changes under it.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/limits.h"
#include "store/sqlite/parts/reclaim.h"
#include "store/sqlite/parts/twins.h"

#include <limits.h>
#include <string.h>

/* Leases taken back by one reserve at most; what is left is taken back by the next one. */
#define RECLAIM_BATCH 1000

#define TYPE_COLUMN 2 /* of reserve_pick */

/* Looks at the row where it lies: of a job that is not wanted nothing else is read. */
static bool type_is_wanted(const struct reservation *wanted, const struct sqlite_query *query)
{
    if (wanted->types == NULL)
        return true;
    const char *type = (const char *)sqlite3_column_text(query->statement, TYPE_COLUMN);
    for (size_t i = 0; i < wanted->type_count; i++)
        if (type != NULL && strcmp(wanted->types[i], type) == 0)
            return true;
    return false;
}

/* What of the queue's row decides whether and how to go on. */
struct queue_row {
    bool paused;
    usec_t next_expiry;
    usec_t spent_until;
    bool awaited;
};

static bool load_queue(struct sqlite *sqlite, int64_t queue_id, struct queue_row *row_out,
                       struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_LOAD);

    sqlite_query_int(&query, queue_id);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    row_out->paused = !sqlite_row_is_null(&query);
    sqlite_row_skip(&query);
    row_out->next_expiry = sqlite_row_is_null(&query) ? USEC_MAX : sqlite_row_int(&query);
    row_out->spent_until = sqlite_row_int(&query);
    row_out->awaited = sqlite_row_int(&query) != 0;
    return true;
}

/* The first `max` jobs in line of a wanted type, without changing anything. */
static bool pick(struct sqlite *sqlite, const struct reservation *wanted, int64_t queue_id,
                 size_t max, struct job_list *jobs_out, struct error *err)
{
    size_t goal = jobs_out->count + max;
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_RESERVE_PICK);
    struct columns columns = sqlite_columns_of(&query, &jobs_out->arena);

    sqlite_query_int(&query, queue_id);
    sqlite_query_int(&query, wanted->types == NULL ? (int64_t)max : -1);
    while (jobs_out->count < goal) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        if (!type_is_wanted(wanted, &query))
            continue;
        struct job *job = job_list_add(jobs_out);
        if (job == NULL)
            return error_no_memory(err);
        columns_reserved(&columns, job);
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}

static bool mark_twin_running(struct sqlite *sqlite, int64_t queue_id, const struct job *job,
                              struct error *err)
{
    struct sqlite_twins twins = {.running = job->ref};

    return job->key == NULL || sqlite_twins_store(sqlite, queue_id, job->key, &twins, err);
}

/* A job that ran before has rows in other tables, and one with a key has a twin: its ack cannot
 * take the short way. */
static bool has_traces(const struct job *job)
{
    return job->key != NULL || job->executions > 0 || job->stalls > 0 || job->attempts > 0;
}

static bool move(struct sqlite_query *leave, struct sqlite_query *lease, int64_t queue_id,
                 struct job *job, struct error *err)
{
    bool traces = has_traces(job);

    sqlite_query_again(leave);
    sqlite_query_int(leave, queue_id);
    sqlite_query_int(leave, job->priority);
    sqlite_query_int(leave, job->due);
    sqlite_query_int(leave, job->ref);
    if (!sqlite_query_run(leave, err))
        return false;
    job->executions++;
    sqlite_query_again(lease);
    sqlite_query_int(lease, job->ref);
    sqlite_query_int(lease, queue_id);
    sqlite_query_int(lease, job->executions);
    sqlite_query_token(lease, &job->token);
    sqlite_query_int(lease, job->expires_at);
    sqlite_query_text(lease, job->pool);
    sqlite_query_int(lease, job->started_at);
    sqlite_query_int(lease, traces);
    return sqlite_query_run(lease, err);
}

/* One call of sqlite_reserve_all(). */
struct reserving {
    struct sqlite *sqlite;
    const struct reservation *wanted;
    usec_t now;
    struct job_list *jobs;
    size_t first; /* of this call in the list, which may have had jobs before */
    const char *pool;
};

/* Everything a job gets with its lease, for the jobs from `from` on. */
static bool move_all(const struct reserving *reserving, int64_t queue_id, const char *queue,
                     size_t from, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query leave = sqlite_query_start(reserving->sqlite, SQL_READY_REMOVE);
    CLEANUP(sqlite_query_done)
    struct sqlite_query lease = sqlite_query_start(reserving->sqlite, SQL_LEASE_ADD);
    const char *name = arena_text(&reserving->jobs->arena, queue);
    const int64_t count = (int64_t)(reserving->jobs->count - from);

    if (!sqlite_tally_jobs(reserving->sqlite, queue_id, JOB_READY, -count, err) ||
        !sqlite_tally_jobs(reserving->sqlite, queue_id, JOB_RUNNING, count, err))
        return false;
    for (size_t i = from; i < reserving->jobs->count; i++) {
        struct job *job = &reserving->jobs->items[i];
        job->queue = name;
        job->pool = reserving->pool;
        job->state = JOB_RUNNING;
        job->token = lease_token_make(&reserving->wanted->batch, (uint32_t)(i - reserving->first));
        job->expires_at = reserving->now + reserving->wanted->lease_for;
        job->started_at = reserving->now;
        if (!move(&leave, &lease, queue_id, job, err) ||
            !mark_twin_running(reserving->sqlite, queue_id, job, err))
            return false;
    }
    return true;
}

/* No lease of this queue ends before `moment`, as far as the queue's row is concerned. */
static bool expect_expiry(struct sqlite *sqlite, int64_t queue_id, usec_t moment, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_EXPECTS_EXPIRY);

    sqlite_query_int(&query, queue_id);
    sqlite_query_int(&query, moment);
    return sqlite_query_run(&query, err);
}

/* At most `max` jobs of the queue get their leases. */
static bool take(const struct reserving *reserving, int64_t queue_id, const char *queue, size_t max,
                 struct error *err)
{
    struct sqlite *sqlite = reserving->sqlite;
    const size_t from = reserving->jobs->count;

    if (max == 0)
        return true;
    if (!pick(sqlite, reserving->wanted, queue_id, max, reserving->jobs, err))
        return false;
    if (reserving->jobs->count == from)
        return true;
    return move_all(reserving, queue_id, queue, from, err) &&
           expect_expiry(sqlite, queue_id, reserving->now + reserving->wanted->lease_for, err);
}

static bool take_share(const struct reserving *reserving, struct sqlite_limits *limits,
                       struct share_limit *limit_out, struct error *err)
{
    const size_t from = reserving->jobs->count;

    return sqlite_limits_load(reserving->sqlite, limits, err) &&
           take(reserving, limits->queue_id, limits->share->queue, sqlite_limits_max(limits),
                err) &&
           sqlite_limits_apply(reserving->sqlite, limits, reserving->jobs->count - from, limit_out,
                               err);
}

static bool reserve_share(const struct reserving *reserving, const struct queue_share *share,
                          struct share_limit *limit_out, struct error *err)
{
    struct sqlite *sqlite = reserving->sqlite;
    struct sqlite_limits limits = {.share = share, .now = reserving->now};
    const usec_t over_at = store_over_at(&sqlite->base, reserving->now);
    struct queue_row row;
    size_t reclaimed;

    if (limit_out != NULL)
        *limit_out = (struct share_limit){0};
    if (!sqlite_queues_find(sqlite, share->queue, &limits.queue_id, err))
        return false;
    if (limits.queue_id == 0 || share->max == 0)
        return true;
    if (!load_queue(sqlite, limits.queue_id, &row, err))
        return false;
    if (row.next_expiry <= over_at &&
        !sqlite_reclaim_queue(sqlite, limits.queue_id, over_at, RECLAIM_BATCH, &reclaimed, err))
        return false;
    if (!row.awaited)
        sqlite_vacancy_forget(sqlite, limits.queue_id); /* saves the look at its row */
    limits.spent_until = row.spent_until;
    return row.paused || take_share(reserving, &limits, limit_out, err);
}

bool sqlite_reserve_all(struct sqlite *sqlite, const struct reservation *wanted, usec_t now,
                        struct job_list *jobs_out, struct error *err)
{
    struct reserving reserving = {
        .sqlite = sqlite,
        .wanted = wanted,
        .now = now,
        .jobs = jobs_out,
        .first = jobs_out->count,
        .pool = arena_text(&jobs_out->arena, wanted->pool),
    };

    for (size_t i = 0; i < wanted->queue_count; i++) {
        struct share_limit *limit = wanted->limits_out != NULL ? &wanted->limits_out[i] : NULL;
        if (!reserve_share(&reserving, &wanted->queues[i], limit, err))
            return false;
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}
