/*
 * twins.c - the table `keyed`, and what happens to the blocked twin when the running one is back.
 */
#include "store/sqlite/parts/twins.h"

#include "base/cleanup.h"
#include "job/settlement.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/parts/ending.h"
#include "store/sqlite/parts/tags.h"

bool sqlite_twins_load(struct sqlite *sqlite, int64_t queue_id, const char *key,
                       struct sqlite_twins *twins_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_KEYED_FIND);

    *twins_out = (struct sqlite_twins){0};
    sqlite_query_int(&query, queue_id);
    sqlite_query_text(&query, key);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    if (found) {
        twins_out->waiting = sqlite_row_int(&query);
        twins_out->running = sqlite_row_int(&query);
    }
    return true;
}

bool sqlite_twins_store(struct sqlite *sqlite, int64_t queue_id, const char *key,
                        const struct sqlite_twins *twins, struct error *err)
{
    bool gone = twins->waiting == 0 && twins->running == 0;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, gone ? SQL_KEYED_REMOVE : SQL_KEYED_PUT);

    sqlite_query_int(&query, queue_id);
    sqlite_query_text(&query, key);
    if (!gone) {
        sqlite_query_int_or_null(&query, twins->waiting);
        sqlite_query_int_or_null(&query, twins->running);
    }
    return sqlite_query_run(&query, err);
}

bool sqlite_twins_write_merge(struct sqlite *sqlite, int64_t seq, const struct keyed_fields *fields,
                              struct keyed_flags update, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_JOB_MERGE);

    sqlite_query_int(&query, seq);
    sqlite_query_int(&query, fields->priority);
    sqlite_query_int(&query, fields->due);
    sqlite_query_int_or_null(&query, fields->run_at);
    sqlite_query_int_or_null(&query, fields->timeout);
    sqlite_query_int_or_null(&query, fields->max_attempts);
    sqlite_query_int_or_null(&query, fields->max_stalls);
    sqlite_query_int(&query, fields->attempts);
    sqlite_query_int(&query, fields->stalls);
    sqlite_query_int(&query, keyed_flags_pack(update));
    return sqlite_query_run(&query, err);
}

/* The blocked twin's standing, or none. */
static bool load_blocked(struct sqlite *sqlite, const struct sqlite_standing *running,
                         struct sqlite_twins *twins_out, struct sqlite_standing *blocked_out,
                         bool *found_out, struct error *err)
{
    *found_out = false;
    if (!sqlite_twins_load(sqlite, running->place.queue_id, running->key, twins_out, err))
        return false;
    return twins_out->waiting == 0 ||
           sqlite_standing_load(sqlite, twins_out->waiting, blocked_out, found_out, err);
}

bool sqlite_twins_running_ended(struct sqlite *sqlite, const struct sqlite_standing *standing,
                                usec_t now, struct error *err)
{
    struct sqlite_twins twins;
    struct sqlite_standing blocked;
    bool found;

    if (standing->key[0] == '\0')
        return true;
    if (!load_blocked(sqlite, standing, &twins, &blocked, &found, err))
        return false;
    twins.running = 0;
    if (!sqlite_twins_store(sqlite, standing->place.queue_id, standing->key, &twins, err))
        return false;
    if (!found)
        return true;
    if (!sqlite_place_remove(sqlite, &blocked.place, err))
        return false;
    blocked.place.state = job_state_when_due(blocked.place.due, now);
    return sqlite_place_add(sqlite, &blocked.place, err);
}

static bool copy_payload(struct sqlite *sqlite, int64_t into, int64_t from, struct error *err)
{
    if (!sqlite_tags_leave(sqlite, into, err))
        return false;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_JOB_COPY_PAYLOAD);

    sqlite_query_int(&query, into);
    sqlite_query_int(&query, from);
    return sqlite_query_run(&query, err) && sqlite_tags_enter(sqlite, into, err);
}

static void take_fields(struct sqlite_standing *standing, const struct keyed_fields *fields)
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

static bool merge_blocked(struct sqlite *sqlite, struct sqlite_standing *standing,
                          const struct sqlite_standing *blocked, usec_t now, bool *moved_out,
                          struct error *err)
{
    struct keyed_fields mine = sqlite_standing_fields(standing),
                        theirs = sqlite_standing_fields(blocked);
    struct keyed_merge merge = keyed_merge(&mine, &theirs, blocked->update);
    struct sqlite_ending ending = {.state = JOB_CANCELLED, .merged_into = standing->id};

    if (merge.take_payload && !copy_payload(sqlite, standing->place.seq, blocked->place.seq, err))
        return false;
    take_fields(standing, &merge.fields);
    *moved_out = merge.moved;
    return sqlite_twins_write_merge(sqlite, standing->place.seq, &merge.fields, blocked->update,
                                    err) &&
           sqlite_place_remove(sqlite, &blocked->place, err) &&
           sqlite_ending_write(sqlite, blocked, &ending, now, err);
}

bool sqlite_twins_running_returns(struct sqlite *sqlite, struct sqlite_standing *standing,
                                  usec_t now, bool *moved_out, struct error *err)
{
    struct sqlite_twins twins;
    struct sqlite_standing blocked;
    bool found;

    *moved_out = false;
    if (standing->key[0] == '\0')
        return true;
    if (!load_blocked(sqlite, standing, &twins, &blocked, &found, err))
        return false;
    if (found && !merge_blocked(sqlite, standing, &blocked, now, moved_out, err))
        return false;
    twins = (struct sqlite_twins){.waiting = standing->place.seq};
    return sqlite_twins_store(sqlite, standing->place.queue_id, standing->key, &twins, err);
}

bool sqlite_twins_waiting_left(struct sqlite *sqlite, const struct sqlite_standing *standing,
                               struct error *err)
{
    struct sqlite_twins twins;

    if (standing->key[0] == '\0')
        return true;
    if (!sqlite_twins_load(sqlite, standing->place.queue_id, standing->key, &twins, err))
        return false;
    twins.waiting = 0;
    return sqlite_twins_store(sqlite, standing->place.queue_id, standing->key, &twins, err);
}
