/*
 * twins.c - the table `keyed`, and what happens to the blocked twin when the running one is back.
 */
#include "store/sqlite/parts/twins.h"

#include "base/cleanup.h"
#include "job/settlement.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/parts/ending.h"

bool twins_load(struct sqlite *sqlite, int64_t queue_id, const char *key, struct twins *twins_out,
                struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_KEYED_FIND);

    *twins_out = (struct twins){0};
    query_int(&query, queue_id);
    query_text(&query, key);
    if (!query_row(&query, &found, err))
        return false;
    if (found) {
        twins_out->waiting = column_int(&query);
        twins_out->running = column_int(&query);
    }
    return true;
}

bool twins_store(struct sqlite *sqlite, int64_t queue_id, const char *key,
                 const struct twins *twins, struct error *err)
{
    bool gone = twins->waiting == 0 && twins->running == 0;
    CLEANUP(query_done)
    struct query query = query_start(sqlite, gone ? SQL_KEYED_REMOVE : SQL_KEYED_PUT);

    query_int(&query, queue_id);
    query_text(&query, key);
    if (!gone) {
        query_int_or_null(&query, twins->waiting);
        query_int_or_null(&query, twins->running);
    }
    return query_run(&query, err);
}

bool twins_write_merge(struct sqlite *sqlite, int64_t seq, const struct keyed_fields *fields,
                       struct keyed_flags update, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_JOB_MERGE);

    query_int(&query, seq);
    query_int(&query, fields->priority);
    query_int(&query, fields->due);
    query_int_or_null(&query, fields->run_at);
    query_int_or_null(&query, fields->timeout);
    query_int_or_null(&query, fields->max_attempts);
    query_int_or_null(&query, fields->max_stalls);
    query_int(&query, fields->attempts);
    query_int(&query, fields->stalls);
    query_int(&query, keyed_flags_pack(update));
    return query_run(&query, err);
}

/* The blocked twin's standing, or none. */
static bool load_blocked(struct sqlite *sqlite, const struct standing *running,
                         struct twins *twins_out, struct standing *blocked_out, bool *found_out,
                         struct error *err)
{
    *found_out = false;
    if (!twins_load(sqlite, running->place.queue_id, running->key, twins_out, err))
        return false;
    return twins_out->waiting == 0 ||
           standing_load(sqlite, twins_out->waiting, blocked_out, found_out, err);
}

bool twins_running_ended(struct sqlite *sqlite, const struct standing *standing, usec_t now,
                         struct error *err)
{
    struct twins twins;
    struct standing blocked;
    bool found;

    if (standing->key[0] == '\0')
        return true;
    if (!load_blocked(sqlite, standing, &twins, &blocked, &found, err))
        return false;
    twins.running = 0;
    if (!twins_store(sqlite, standing->place.queue_id, standing->key, &twins, err))
        return false;
    if (!found)
        return true;
    if (!place_remove(sqlite, &blocked.place, err))
        return false;
    blocked.place.state = job_state_when_due(blocked.place.due, now);
    return place_add(sqlite, &blocked.place, err);
}

static bool copy_payload(struct sqlite *sqlite, int64_t into, int64_t from, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_JOB_COPY_PAYLOAD);

    query_int(&query, into);
    query_int(&query, from);
    return query_run(&query, err);
}

static void take_fields(struct standing *standing, const struct keyed_fields *fields)
{
    standing->place.priority = fields->priority;
    standing->place.due = fields->due;
    standing->run_at = fields->run_at;
    standing->timeout = fields->timeout;
    standing->max_attempts = fields->max_attempts;
    standing->max_stalls = fields->max_stalls;
    standing->attempts = fields->attempts;
    standing->stalls = fields->stalls;
}

static bool merge_blocked(struct sqlite *sqlite, struct standing *standing,
                          const struct standing *blocked, usec_t now, bool *moved_out,
                          struct error *err)
{
    struct keyed_fields mine = standing_fields(standing), theirs = standing_fields(blocked);
    struct keyed_merge merge = keyed_merge(&mine, &theirs, blocked->update);
    struct ending ending = {.state = JOB_CANCELLED, .merged_into = standing->id};

    if (merge.take_payload && !copy_payload(sqlite, standing->place.seq, blocked->place.seq, err))
        return false;
    take_fields(standing, &merge.fields);
    *moved_out = merge.moved;
    return twins_write_merge(sqlite, standing->place.seq, &merge.fields, blocked->update, err) &&
           place_remove(sqlite, &blocked->place, err) &&
           ending_write(sqlite, blocked, &ending, now, err);
}

bool twins_running_returns(struct sqlite *sqlite, struct standing *standing, usec_t now,
                           bool *moved_out, struct error *err)
{
    struct twins twins;
    struct standing blocked;
    bool found;

    *moved_out = false;
    if (standing->key[0] == '\0')
        return true;
    if (!load_blocked(sqlite, standing, &twins, &blocked, &found, err))
        return false;
    if (found && !merge_blocked(sqlite, standing, &blocked, now, moved_out, err))
        return false;
    twins = (struct twins){.waiting = standing->place.seq};
    return twins_store(sqlite, standing->place.queue_id, standing->key, &twins, err);
}

bool twins_waiting_left(struct sqlite *sqlite, const struct standing *standing, struct error *err)
{
    struct twins twins;

    if (standing->key[0] == '\0')
        return true;
    if (!twins_load(sqlite, standing->place.queue_id, standing->key, &twins, err))
        return false;
    twins.waiting = 0;
    return twins_store(sqlite, standing->place.queue_id, standing->key, &twins, err);
}
