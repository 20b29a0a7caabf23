/*
 * repair.c - what people do to jobs: cancel, run now, run again, delete; pause a queue, hide it.
 *
 * Each works on a list of ids in one transaction, with a verdict per id.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/batch.h"
#include "store/sqlite/parts/ending.h"
#include "store/sqlite/parts/standing.h"
#include "store/sqlite/parts/twins.h"

#include <string.h>

struct repair {
    struct sqlite *sqlite;
    usec_t now;
    usec_t run_at; /* requeue */
};

/* One kind of repair on a job that exists. */
typedef bool (*repair_one)(const struct repair *repair, struct sqlite_standing *standing,
                           enum th_error_code *verdict_out, struct error *err);

static bool repair_all(const struct repair *repair, repair_one one, const struct uuid *ids,
                       size_t count, enum th_error_code *verdicts_out, struct error *err)
{
    struct sqlite_standing standing;
    bool found;

    for (size_t i = 0; i < count; i++) {
        if (!sqlite_standing_load_by_id(repair->sqlite, &ids[i], &standing, &found, err))
            return false;
        verdicts_out[i] = found ? TH_OK : TH_E_NOT_FOUND;
        if (found && !one(repair, &standing, &verdicts_out[i], err))
            return false;
    }
    return true;
}

static bool run_repair(const struct repair *repair, repair_one one, const struct uuid *ids,
                       size_t count, enum th_error_code *verdicts_out, struct error *err)
{
    return sqlite_begin_write(repair->sqlite, err) &&
           sqlite_end(repair->sqlite, repair_all(repair, one, ids, count, verdicts_out, err), err);
}

/* ---- cancel ---- */

static bool request_cancel(const struct repair *repair, const struct sqlite_standing *standing,
                           struct error *err)
{
    const struct lease_token *token = &standing->token;

    if (!sqlite_batch_unpack_all(repair->sqlite, &token, 1, err))
        return false;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(repair->sqlite, SQL_LEASE_REQUEST_CANCEL);
    sqlite_query_int(&query, standing->place.seq);
    sqlite_query_int(&query, repair->now);
    return sqlite_query_run(&query, err);
}

static bool cancel_one(const struct repair *repair, struct sqlite_standing *standing,
                       enum th_error_code *verdict_out, struct error *err)
{
    struct sqlite_ending ending = {.state = JOB_CANCELLED};

    if (!job_state_allows(standing->place.state, EVENT_CANCEL)) {
        *verdict_out = TH_E_CONFLICT;
        return true;
    }
    if (standing->place.state == JOB_RUNNING)
        return request_cancel(repair, standing, err);
    return sqlite_place_remove(repair->sqlite, &standing->place, err) &&
           sqlite_ending_write(repair->sqlite, standing, &ending, repair->now, err) &&
           sqlite_twins_waiting_left(repair->sqlite, standing, err);
}

bool sqlite_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err)
{
    struct repair repair = {.sqlite = sqlite_of(store), .now = now};

    return run_repair(&repair, cancel_one, ids, count, verdicts_out, err);
}

/* ---- run now ---- */

static bool hasten_row(const struct repair *repair, int64_t seq, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(repair->sqlite, SQL_JOB_HASTEN);

    sqlite_query_int(&query, seq);
    sqlite_query_int(&query, repair->now);
    return sqlite_query_run(&query, err);
}

static bool run_one(const struct repair *repair, struct sqlite_standing *standing,
                    enum th_error_code *verdict_out, struct error *err)
{
    struct sqlite_place *place = &standing->place;

    if (place->state == JOB_READY)
        return true;
    if (!job_state_allows(place->state, EVENT_RUN)) {
        *verdict_out = TH_E_CONFLICT;
        return true;
    }
    if (!sqlite_place_remove(repair->sqlite, place, err))
        return false;
    place->due = repair->now;
    place->state = JOB_READY;
    return hasten_row(repair, place->seq, err) && sqlite_place_add(repair->sqlite, place, err);
}

bool sqlite_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                    enum th_error_code *verdicts_out, struct error *err)
{
    struct repair repair = {.sqlite = sqlite_of(store), .now = now};

    return run_repair(&repair, run_one, ids, count, verdicts_out, err);
}

/* ---- requeue ---- */

static bool revive_row(const struct repair *repair, const struct sqlite_standing *standing,
                       struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(repair->sqlite, SQL_JOB_REVIVE);

    sqlite_query_int(&query, standing->place.seq);
    sqlite_query_int(&query, standing->place.due);
    sqlite_query_int_or_null(&query, repair->run_at);
    sqlite_query_int(&query, standing->executions);
    return sqlite_query_run(&query, err) &&
           sqlite_query_on_seq(repair->sqlite, SQL_DETAIL_FORGIVE, standing->place.seq, err);
}

/* While a twin runs it would be blocked, and merged into that if it comes back: one of another type
 * cannot be. */
static bool may_wait(const struct repair *repair, const struct sqlite_standing *standing,
                     const struct sqlite_twins *twins, bool *may_out, struct error *err)
{
    struct sqlite_standing running;
    bool found = false;

    *may_out = twins->waiting == 0;
    if (twins->running != 0 &&
        !sqlite_standing_load(repair->sqlite, twins->running, &running, &found, err))
        return false;
    if (found && strcmp(running.type, standing->type) != 0)
        *may_out = false;
    return true;
}

static bool requeue_one(const struct repair *repair, struct sqlite_standing *standing,
                        enum th_error_code *verdict_out, struct error *err)
{
    struct sqlite_place *place = &standing->place;
    struct sqlite_twins twins = {0};
    bool may;

    if (standing->key[0] != '\0' &&
        !sqlite_twins_load(repair->sqlite, place->queue_id, standing->key, &twins, err))
        return false;
    if (!may_wait(repair, standing, &twins, &may, err))
        return false;
    if (!job_state_allows(place->state, EVENT_REVIVE) || !may) {
        *verdict_out = TH_E_CONFLICT;
        return true;
    }
    if (!sqlite_ending_leave(repair->sqlite, place, err))
        return false;
    place->due = repair->run_at != 0 ? repair->run_at : repair->now;
    place->state = twins.running != 0 ? JOB_BLOCKED : job_state_when_due(place->due, repair->now);
    if (!revive_row(repair, standing, err) || !sqlite_place_add(repair->sqlite, place, err))
        return false;
    twins.waiting = place->seq;
    return standing->key[0] == '\0' ||
           sqlite_twins_store(repair->sqlite, place->queue_id, standing->key, &twins, err);
}

bool sqlite_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                    usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    struct repair repair = {.sqlite = sqlite_of(store), .now = now, .run_at = run_at};

    return run_repair(&repair, requeue_one, ids, count, verdicts_out, err);
}

/* ---- remove ---- */

static bool free_idempotency(const struct repair *repair, const struct uuid *id, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(repair->sqlite, SQL_IDEMPOTENCY_FREE);

    sqlite_query_uuid(&query, id);
    return sqlite_query_run(&query, err);
}

static bool remove_one(const struct repair *repair, struct sqlite_standing *standing,
                       enum th_error_code *verdict_out, struct error *err)
{
    if (!job_state_allows(standing->place.state, EVENT_REMOVE)) {
        *verdict_out = TH_E_CONFLICT;
        return true;
    }
    return free_idempotency(repair, &standing->id, err) &&
           sqlite_ending_forget(repair->sqlite, &standing->place, true, err);
}

bool sqlite_remove(struct store *store, const struct uuid *ids, size_t count,
                   enum th_error_code *verdicts_out, struct error *err)
{
    struct repair repair = {.sqlite = sqlite_of(store)};

    return run_repair(&repair, remove_one, ids, count, verdicts_out, err);
}

/* ---- pause ---- */

static bool set_paused(struct sqlite *sqlite, const char *queue, usec_t paused_at, const char *by,
                       struct error *err)
{
    int64_t queue_id;

    if (!sqlite_queues_find_or_add(sqlite, queue, &queue_id, err))
        return false;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_SET_PAUSED);
    sqlite_query_int(&query, queue_id);
    sqlite_query_int_or_null(&query, paused_at);
    sqlite_query_text(&query, by);
    sqlite->ring = paused_at == 0; /* its jobs may be reserved again */
    return sqlite_query_run(&query, err);
}

bool sqlite_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                       struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, set_paused(sqlite, queue, paused_at, by, err), err);
}

/* ---- hide ---- */

static bool hide_queue(struct sqlite *sqlite, int64_t queue_id, enum th_error_code *verdict_out,
                       struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_HIDE);

    sqlite_query_int(&query, queue_id);
    if (!sqlite_query_run(&query, err))
        return false;
    *verdict_out = sqlite_query_changes(&query) == 1 ? TH_OK : TH_E_CONFLICT;
    return true;
}

bool sqlite_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                       struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);
    int64_t queue_id;

    if (!sqlite_queues_find(sqlite, queue, &queue_id, err))
        return false;
    *verdict_out = TH_E_NOT_FOUND;
    return queue_id == 0 ||
           (sqlite_begin_write(sqlite, err) &&
            sqlite_end(sqlite, hide_queue(sqlite, queue_id, verdict_out, err), err));
}
