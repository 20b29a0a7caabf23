/*
 * reserve.c - ready jobs get a lease.
 *
 * Per queue: leases that ran out are taken back, then the first jobs in line are read, then each of
 * them moves from `ready` to `lease`, or many of them to one row of `batch`. Reading comes before
 * moving, because a scan must not run over a tree that changes under it.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/batch.h"
#include "store/sqlite/parts/lease.h"
#include "store/sqlite/parts/limits.h"
#include "store/sqlite/parts/reclaim.h"
#include "store/sqlite/parts/twins.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Leases taken back by one reserve at most; what is left is taken back by the next one. */
#define RECLAIM_BATCH 1000

#define TYPE_COLUMN 2 /* of reserve_pick */

/* Looks at the row where it lies: of a job that is not wanted nothing else is read. */
static bool type_is_wanted(const struct reservation *wanted, const struct sqlite_query *query)
{
    if (!wanted->types)
        return true;
    const char *type = (const char *)sqlite3_column_text(query->statement, TYPE_COLUMN);
    for (size_t i = 0; i < wanted->type_count; i++)
        if (type && strcmp(wanted->types[i], type) == 0)
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

static bool read_extras(struct sqlite *sqlite, struct arena *arena, struct job *job,
                        struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_JOB_EXTRAS);
    struct columns columns = sqlite_columns_of(&query, arena);

    sqlite_query_int(&query, job->ref);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    if (found)
        columns_extras(&columns, job);
    return true;
}

/* The first `max` jobs in line of a wanted type, without changing anything; *in_a_row_out says
 * whether none was passed over. */
static bool pick(struct sqlite *sqlite, const struct reservation *wanted, int64_t queue_id,
                 size_t max, struct job_list *jobs_out, bool *in_a_row_out, struct error *err)
{
    const size_t goal = jobs_out->count + max;
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_RESERVE_PICK);
    struct columns columns = sqlite_columns_of(&query, &jobs_out->arena);

    sqlite_query_int(&query, queue_id);
    sqlite_query_int(&query, !wanted->types ? (int64_t)max : JOB_LOOK_MAX);
    *in_a_row_out = true;
    while (jobs_out->count < goal) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        if (!type_is_wanted(wanted, &query)) {
            *in_a_row_out = false;
            continue;
        }
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        if (columns_reserved(&columns, job) && !read_extras(sqlite, &jobs_out->arena, job, err))
            return false;
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}

static bool mark_twin_running(struct sqlite *sqlite, int64_t queue_id, const struct job *job,
                              struct error *err)
{
    struct sqlite_twins twins = {.running = job->ref};

    return !job->key || sqlite_twins_store(sqlite, queue_id, job->key, &twins, err);
}

/* A job that ran before has rows in other tables, and so has one with tags, and one with a key has
 * a twin: its ack cannot take the short way. */
static bool has_traces(const struct job *job)
{
    return job->key || job->tags.count > 0 || job->executions > 0 || job->stalls > 0 ||
           job->attempts > 0;
}

/* One reservation. */
struct reserving {
    struct sqlite *sqlite;
    const struct reservation *wanted;
    uint32_t number; /* among those of the call */
    usec_t now, lead;
    struct job_list *jobs;
    size_t first; /* of its jobs in the list, which may have had some before */
    const char *pool;
};

/* What it took of one queue: the jobs from `from` on. */
struct taking {
    const struct reserving *reserving;
    int64_t queue_id;
    const char *queue;
    size_t from;
    bool in_a_row;      /* they are the first ones in line */
    usec_t next_expiry; /* of the first lease that ends */
};

/* From the first in line on all, or the last one alone. Rows whose job was deleted by hand, which
 * nobody can take, go with their neighbours. */
static bool leave_ready(const struct taking *taking, enum sql_statement which,
                        const struct job *last, struct error *err)
{
    struct sqlite *sqlite = taking->reserving->sqlite;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    sqlite_query_int(&query, taking->queue_id);
    sqlite_query_int(&query, last->priority);
    sqlite_query_int(&query, last->due);
    sqlite_query_int(&query, last->ref);
    return sqlite_query_run(&query, err) && sqlite_tally_jobs(sqlite, taking->queue_id, JOB_READY,
                                                              -sqlite_query_changes(&query), err);
}

static bool leave_line(const struct taking *taking, struct error *err)
{
    const struct job_list *jobs = taking->reserving->jobs;

    if (taking->in_a_row)
        return leave_ready(taking, SQL_READY_REMOVE_FIRST, &jobs->items[jobs->count - 1], err);
    for (size_t i = taking->from; i < jobs->count; i++)
        if (!leave_ready(taking, SQL_READY_REMOVE, &jobs->items[i], err))
            return false;
    return true;
}

static bool give_lease(const struct taking *taking, const struct job *job, bool traces,
                       struct error *err)
{
    struct sqlite *sqlite = taking->reserving->sqlite;
    const struct sqlite_lease lease = {
        .seq = job->ref,
        .queue_id = taking->queue_id,
        .execution = job->executions + 1,
        .token = job->token,
        .expires_at = job->expires_at,
        .started_at = job->started_at,
        .pool = job->pool,
        .traces = traces,
    };

    return sqlite_lease_add(sqlite, &lease, err) &&
           mark_twin_running(sqlite, taking->queue_id, job, err);
}

/* One row for all the plain ones, if they are enough for that and end at one time: seqs and open
 * say whose lease it has. */
static bool give_batch(const struct taking *taking, struct sqlite_batch *batch, struct error *err)
{
    const struct reserving *reserving = taking->reserving;
    const struct job *jobs = reserving->jobs->items + taking->from;

    if (!sqlite_batch_make_room(batch, reserving->jobs->count - taking->from, err))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        batch->seqs[i] = has_traces(&jobs[i]) ? 0 : jobs[i].ref;
        batch->open += batch->seqs[i] != 0;
    }
    if (batch->open < reserving->sqlite->base.batch_min || reserving->wanted->lease_for == 0)
        return sqlite_batch_make_room(batch, batch->count, err);
    batch->queue_id = taking->queue_id;
    batch->token = reserving->wanted->batch;
    batch->first = (uint32_t)(taking->from - reserving->first);
    batch->expires_at = jobs->expires_at;
    batch->started_at = jobs->started_at;
    snprintf(batch->pool, sizeof batch->pool, "%s", reserving->pool);
    return sqlite_batch_add(reserving->sqlite, batch, err);
}

static bool give_leases(const struct taking *taking, struct error *err)
{
    struct job_list *jobs = taking->reserving->jobs;
    CLEANUP(sqlite_batch_done) struct sqlite_batch batch = {0};

    if (!give_batch(taking, &batch, err))
        return false;
    for (size_t i = taking->from; i < jobs->count; i++) {
        struct job *job = &jobs->items[i];
        if (batch.seqs[i - taking->from] == 0 && !give_lease(taking, job, has_traces(job), err))
            return false;
        job->executions++;
    }
    return true;
}

static usec_t lease_end(const struct reserving *reserving, const struct job *job)
{
    const struct reservation *wanted = reserving->wanted;

    return reserving->now + reserving->lead +
           lease_length(wanted->lease_for, job->timeout, wanted->lease_default);
}

/* What the caller is told of a lease. */
static void fill_in(struct taking *taking)
{
    const struct reserving *reserving = taking->reserving;
    struct job_list *jobs = reserving->jobs;
    const char *name = arena_text(&jobs->arena, taking->queue);

    for (size_t i = taking->from; i < jobs->count; i++) {
        struct job *job = &jobs->items[i];
        job->queue = name;
        job->pool = reserving->pool;
        job->state = JOB_RUNNING;
        job->token = lease_token_make(&reserving->wanted->batch, (uint32_t)(i - reserving->first));
        job->expires_at = lease_end(reserving, job);
        job->started_at = reserving->now;
        job->reservation = reserving->number;
        if (job->expires_at < taking->next_expiry)
            taking->next_expiry = job->expires_at;
    }
}

static bool move_all(struct taking *taking, struct error *err)
{
    struct sqlite *sqlite = taking->reserving->sqlite;
    const int64_t count = (int64_t)(taking->reserving->jobs->count - taking->from);

    fill_in(taking);
    return sqlite_tally_jobs(sqlite, taking->queue_id, JOB_RUNNING, count, err) &&
           leave_line(taking, err) && give_leases(taking, err);
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
    struct taking taking = {.reserving = reserving,
                            .queue_id = queue_id,
                            .queue = queue,
                            .from = reserving->jobs->count,
                            .next_expiry = USEC_MAX};

    if (max == 0)
        return true;
    if (!pick(sqlite, reserving->wanted, queue_id, max, reserving->jobs, &taking.in_a_row, err))
        return false;
    if (reserving->jobs->count == taking.from)
        return true;
    return move_all(&taking, err) && expect_expiry(sqlite, queue_id, taking.next_expiry, err);
}

/* What max_total leaves for the queues that were not asked yet. */
static size_t total_left(const struct reserving *reserving)
{
    const size_t most = reserving->wanted->max_total;

    return most == 0 ? SIZE_MAX : most - (reserving->jobs->count - reserving->first);
}

static size_t most_of(const struct reserving *reserving, const struct sqlite_limits *limits)
{
    const size_t most = sqlite_limits_max(limits), left = total_left(reserving);

    return most < left ? most : left;
}

static bool take_share(const struct reserving *reserving, struct sqlite_limits *limits,
                       struct share_limit *limit_out, struct error *err)
{
    const size_t from = reserving->jobs->count;

    return sqlite_limits_load(reserving->sqlite, limits, err) &&
           take(reserving, limits->queue_id, limits->share->queue, most_of(reserving, limits),
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

    if (limit_out)
        *limit_out = (struct share_limit){0};
    if (!sqlite_queues_find(sqlite, share->queue, &limits.queue_id, err))
        return false;
    if (limits.queue_id == 0 || share->max == 0 || total_left(reserving) == 0)
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

static bool reserve(struct reserving *reserving, struct error *err)
{
    const struct reservation *wanted = reserving->wanted;

    reserving->first = reserving->jobs->count;
    reserving->pool = arena_text(&reserving->jobs->arena, wanted->pool);
    for (size_t i = 0; i < wanted->queue_count; i++) {
        struct share_limit *limit = wanted->limits_out ? &wanted->limits_out[i] : NULL;
        if (!reserve_share(reserving, &wanted->queues[i], limit, err))
            return false;
    }
    return true;
}

bool sqlite_reserve_all(struct sqlite *sqlite, const struct reservation *wanted, size_t count,
                        usec_t now, struct job_list *jobs_out, struct error *err)
{
    const usec_t lead = store_lead(&sqlite->base);

    for (size_t i = 0; i < count; i++) {
        struct reserving reserving = {
            .sqlite = sqlite,
            .wanted = &wanted[i],
            .number = (uint32_t)i,
            .now = now,
            .lead = lead,
            .jobs = jobs_out,
        };
        if (!reserve(&reserving, err))
            return false;
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}
