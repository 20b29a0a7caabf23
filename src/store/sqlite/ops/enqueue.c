/*
 * enqueue.c - a job comes in.
 *
 * Looked at in this order: the idempotency record, the id, the key. The first that answers ends
 * it; otherwise the job is new and gets its row and its place.
 */
#include "base/cleanup.h"
#include "job/idempotency.h"
#include "store/checks.h"
#include "store/columns.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/savepoint.h"
#include "store/sqlite/parts/standing.h"
#include "store/sqlite/parts/tags.h"
#include "store/sqlite/parts/twins.h"

#include <string.h>

/* What is being enqueued, and what was found out on the way. */
struct arrival {
    struct sqlite *sqlite;
    const struct job *job;
    usec_t now;
    int64_t queue_id;
    struct sqlite_twins twins;
    struct enqueued *enqueued;
    bool answered; /* by something that is stored already */
};

static usec_t due_of(const struct arrival *arrival)
{
    return arrival->job->run_at != 0 ? arrival->job->run_at : arrival->now;
}

/* The job that stands for this request is the one with this id; its record may be gone. */
static bool answer_existing(struct arrival *arrival, const struct uuid *id, struct error *err)
{
    struct sqlite_standing standing;
    bool found;

    if (!sqlite_standing_load_by_id(arrival->sqlite, id, &standing, &found, err))
        return false;
    *arrival->enqueued = (struct enqueued){
        .id = *id,
        .state = found ? standing.place.state : JOB_DONE,
        .existed = true,
    };
    arrival->answered = true;
    return true;
}

static bool check_idempotency(struct arrival *arrival, struct error *err)
{
    struct uuid id;
    bool found;

    if (!arrival->job->idempotency_key)
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(arrival->sqlite, SQL_IDEMPOTENCY_FIND);
    sqlite_query_int(&query, arrival->queue_id);
    sqlite_query_text(&query, arrival->job->idempotency_key);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    if (!found)
        return true;
    id = sqlite_row_uuid(&query);
    if (!idempotency_holds(sqlite_row_int(&query), arrival->now))
        return true;
    return answer_existing(arrival, &id, err);
}

static bool record_idempotency(struct arrival *arrival, struct error *err)
{
    if (!arrival->job->idempotency_key)
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(arrival->sqlite, SQL_IDEMPOTENCY_PUT);
    sqlite_query_int(&query, arrival->queue_id);
    sqlite_query_text(&query, arrival->job->idempotency_key);
    sqlite_query_uuid(&query, &arrival->enqueued->id);
    sqlite_query_int(&query, arrival->job->idempotency_expires);
    return sqlite_query_run(&query, err);
}

/* No bytes are bytes too: without an address they would be NULL, which the table refuses. */
static void bind_payload(struct sqlite_query *query, const struct job *job)
{
    static const unsigned char nothing[1];

    sqlite_query_bytes(query, job->payload.data ? job->payload : (struct bytes){nothing, 0});
}

static bool has_extras(const struct job *job)
{
    return job->headers || job->tags.count > 0;
}

static void bind_encoding(struct sqlite_query *query, const struct job *job)
{
    sqlite_query_int(query, (int64_t)job->encoding | (has_extras(job) ? COLUMNS_EXTRAS : 0));
}

/* What it binds lies in `tags` until the statement has run. */
static void bind_extras(struct sqlite_query *query, const struct job *job,
                        char tags[TAGS_TEXT_SIZE])
{
    sqlite_query_text(query, job->headers);
    sqlite_query_text(query, tags_format(job->tags, tags));
}

static bool set_payload(struct arrival *arrival, int64_t seq, struct error *err)
{
    char tags[TAGS_TEXT_SIZE];

    if (!sqlite_tags_leave(arrival->sqlite, seq, err))
        return false;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(arrival->sqlite, SQL_JOB_SET_PAYLOAD);

    sqlite_query_int(&query, seq);
    bind_encoding(&query, arrival->job);
    bind_payload(&query, arrival->job);
    bind_extras(&query, arrival->job, tags);
    return sqlite_query_run(&query, err) && sqlite_tags_enter(arrival->sqlite, seq, err);
}

/* A blocked one is still to be merged into the running one: what its own enqueue asked for must not
 * be lost because a later one asked for less. */
static struct keyed_flags flags_after(const struct sqlite_standing *waiting,
                                      const struct job *newcomer)
{
    return waiting->place.state == JOB_BLOCKED ? keyed_flags_join(waiting->update, newcomer->update)
                                               : newcomer->update;
}

/* The waiting twin takes what the newcomer's flags say, and perhaps another place. */
static bool update_waiting(struct arrival *arrival, struct sqlite_standing *waiting,
                           struct error *err)
{
    const struct job *job = arrival->job;
    struct keyed_fields newcomer = {
        .priority = job->priority,
        .run_at = job->run_at,
        .due = due_of(arrival),
        .timeout = job->timeout,
        .max_attempts = job->max_attempts,
        .max_stalls = job->max_stalls,
    };
    struct keyed_fields current = sqlite_standing_fields(waiting);
    struct keyed_merge merge = keyed_merge(&current, &newcomer, job->update);
    struct sqlite_place place = waiting->place;

    place.priority = merge.fields.priority;
    place.due = merge.fields.due;
    place.aside = ASIDE_NONE; /* whoever meets it next sees whether it can be run */
    if (merge.moved && place.state != JOB_BLOCKED)
        place.state = job_state_when_due(place.due, arrival->now);
    *arrival->enqueued =
        (struct enqueued){.id = waiting->id, .state = place.state, .updated = true};
    arrival->answered = true;
    return (!merge.take_payload || set_payload(arrival, place.seq, err)) &&
           sqlite_place_remove(arrival->sqlite, &waiting->place, err) &&
           sqlite_twins_write_merge(arrival->sqlite, place.seq, &merge.fields,
                                    flags_after(waiting, job), err) &&
           sqlite_place_add(arrival->sqlite, &place, err) && record_idempotency(arrival, err);
}

static bool check_id(struct arrival *arrival, struct error *err)
{
    int64_t seq;

    if (!sqlite_standing_seq_of(arrival->sqlite, &arrival->job->id, &seq, err))
        return false;
    return seq == 0 || answer_existing(arrival, &arrival->job->id, err);
}

/* The waiting twin is updated. While one runs the job will be blocked, and merged into that if it
 * comes back: so that one, too, has to be of its type. */
static bool check_key(struct arrival *arrival, struct error *err)
{
    const struct job *job = arrival->job;
    struct sqlite_standing standing;
    bool found;

    if (!job->key)
        return true;
    if (!check_id(arrival, err))
        return false;
    if (arrival->answered)
        return true;
    if (!sqlite_twins_load(arrival->sqlite, arrival->queue_id, job->key, &arrival->twins, err))
        return false;
    int64_t twin = arrival->twins.waiting != 0 ? arrival->twins.waiting : arrival->twins.running;
    if (twin == 0)
        return true;
    if (!sqlite_standing_load(arrival->sqlite, twin, &standing, &found, err))
        return false;
    if (!found)
        return true;
    if (strcmp(standing.type, job->type) != 0)
        return checks_refuse_twin(job, standing.type, standing.place.state == JOB_RUNNING, err);
    return standing.place.state == JOB_RUNNING || update_waiting(arrival, &standing, err);
}

static bool add_row(struct arrival *arrival, bool *added_out, struct error *err)
{
    char tags[TAGS_TEXT_SIZE];
    const struct job *job = arrival->job;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query =
        sqlite_query_start(arrival->sqlite, has_extras(job) ? SQL_JOB_ADD_EXTRAS : SQL_JOB_ADD);

    sqlite_query_uuid(&query, &job->id);
    sqlite_query_int(&query, arrival->queue_id);
    sqlite_query_text(&query, job->type);
    bind_encoding(&query, job);
    sqlite_query_int(&query, job->priority);
    sqlite_query_int(&query, due_of(arrival));
    sqlite_query_int_or_null(&query, job->run_at);
    sqlite_query_int_or_null(&query, job->timeout);
    sqlite_query_int_or_null(&query, job->max_attempts);
    sqlite_query_int_or_null(&query, job->max_stalls);
    sqlite_query_int(&query, job->attempts);
    sqlite_query_int(&query, job->stalls);
    sqlite_query_int(&query, arrival->now);
    sqlite_query_text(&query, job->key);
    if (job->key || job->on_dead_depth > 0)
        sqlite_query_int(&query, job_flags_pack(job));
    else
        sqlite_query_null(&query);
    sqlite_query_text(&query, job->idempotency_key);
    bind_payload(&query, job);
    if (has_extras(job))
        bind_extras(&query, job, tags);
    if (!sqlite_query_run(&query, err))
        return false;
    *added_out = sqlite_query_changes(&query) == 1;
    return true;
}

static bool add_job(struct arrival *arrival, struct error *err)
{
    struct sqlite_place place = {
        .queue_id = arrival->queue_id,
        .priority = arrival->job->priority,
        .due = due_of(arrival),
    };
    bool added;

    if (!add_row(arrival, &added, err))
        return false;
    if (!added)
        return answer_existing(arrival, &arrival->job->id, err);
    place.seq = sqlite3_last_insert_rowid(arrival->sqlite->db);
    place.state =
        arrival->twins.running != 0 ? JOB_BLOCKED : job_state_when_due(place.due, arrival->now);
    *arrival->enqueued = (struct enqueued){.id = arrival->job->id, .state = place.state};
    if (!sqlite_place_add(arrival->sqlite, &place, err) || !record_idempotency(arrival, err) ||
        (arrival->job->tags.count > 0 && !sqlite_tags_enter(arrival->sqlite, place.seq, err)))
        return false;
    if (!arrival->job->key)
        return true;
    arrival->twins.waiting = place.seq;
    return sqlite_twins_store(arrival->sqlite, arrival->queue_id, arrival->job->key,
                              &arrival->twins, err);
}

bool sqlite_enqueue_one(struct sqlite *sqlite, const struct job *job, usec_t now,
                        struct enqueued *enqueued_out, struct error *err)
{
    struct arrival arrival = {.sqlite = sqlite, .job = job, .now = now, .enqueued = enqueued_out};

    if (!sqlite_queues_find_or_add(sqlite, job->queue, &arrival.queue_id, err) ||
        !check_idempotency(&arrival, err))
        return false;
    if (!arrival.answered && !check_key(&arrival, err))
        return false;
    return arrival.answered || add_job(&arrival, err);
}

/* The scheduler has to hear of it. */
static bool is_scheduled_soon(const struct job *job, const struct enqueued *enqueued, usec_t now)
{
    return enqueued->state == JOB_SCHEDULED && job_state_is_due_soon(job->run_at, now);
}

static bool enqueue_jobs(struct sqlite *sqlite, const struct enqueue_group *group, usec_t now,
                         size_t *at_fault_out, struct error *err)
{
    for (size_t i = 0; i < group->count; i++) {
        *at_fault_out = i;
        if (!sqlite_enqueue_one(sqlite, &group->jobs[i], now, &group->enqueued_out[i], err))
            return false;
        if (is_scheduled_soon(&group->jobs[i], &group->enqueued_out[i], now))
            sqlite->ring = true;
    }
    return true;
}

/* Only a key can be refused, and before anything is written for its job: so nothing has to be taken
 * back but the jobs before it. */
static bool may_be_taken_back(const struct enqueue_group *group)
{
    for (size_t i = 1; i < group->count; i++)
        if (group->jobs[i].key)
            return true;
    return false;
}

/* True also when it is refused. */
static bool enqueue_group(struct sqlite *sqlite, struct enqueue_group *group, usec_t now,
                          struct error *err)
{
    CLEANUP(sqlite_savepoint_done) struct sqlite_savepoint savepoint = {0};
    const bool saved = may_be_taken_back(group);
    struct error failure;
    size_t at_fault;

    if (saved && !sqlite_savepoint_set(sqlite, &savepoint, err))
        return false;
    if (enqueue_jobs(sqlite, group, now, &at_fault, &failure))
        return !saved || sqlite_savepoint_release(sqlite, err);
    if (failure.code != TH_E_CONFLICT) {
        *err = failure;
        return false;
    }
    *group->err = failure;
    enqueue_group_refuse(group, at_fault);
    return !saved || sqlite_savepoint_go_back(sqlite, &savepoint, err);
}

static bool enqueue_groups(struct sqlite *sqlite, struct enqueue_group *const *groups, size_t count,
                           usec_t now, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!enqueue_group(sqlite, groups[i], now, err))
            return false;
    return true;
}

bool sqlite_enqueue(struct store *store, struct enqueue_group *const *groups, size_t count,
                    usec_t now, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, enqueue_groups(sqlite, groups, count, now, err), err);
}
