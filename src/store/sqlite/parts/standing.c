/*
 * standing.c - reads the statement `standing`. Text that does not fit is damage, and is cut.
 */
#include "store/sqlite/parts/standing.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"

static void read_job(struct sqlite_query *query, struct sqlite_standing *standing)
{
    standing->place.seq = sqlite_row_int(query);
    standing->id = sqlite_row_uuid(query);
    standing->place.queue_id = sqlite_row_int(query);
    sqlite_row_copy(query, standing->type, sizeof standing->type);
    standing->place.priority = (int)sqlite_row_int(query);
    standing->place.due = sqlite_row_int(query);
    standing->run_at = sqlite_row_int(query);
    standing->timeout = sqlite_row_int(query);
    standing->max_attempts = (int)sqlite_row_int(query);
    standing->max_stalls = (int)sqlite_row_int(query);
    standing->attempts = (int)sqlite_row_int(query);
    standing->stalls = (int)sqlite_row_int(query);
    sqlite_row_copy(query, standing->key, sizeof standing->key);
    standing->update = keyed_flags_unpack((int)sqlite_row_int(query));
}

static void read_state(struct sqlite_query *query, struct sqlite_standing *standing)
{
    standing->place.state = (enum job_state)sqlite_row_int(query);
    standing->executions = sqlite_row_int(query);
    standing->has_token = !sqlite_row_is_null(query);
    standing->token = sqlite_row_token(query);
    standing->expires_at = sqlite_row_int(query);
    sqlite_row_copy(query, standing->pool, sizeof standing->pool);
    standing->worker = (int)sqlite_row_int(query);
    standing->started_at = sqlite_row_int(query);
    standing->cancel_requested_at = sqlite_row_int(query);
    const bool has_ended = !sqlite_row_is_null(query);
    const int64_t ended_by = sqlite_row_int(query);
    standing->ended_by = has_ended ? (int)ended_by : -1;
    standing->place.aside = (enum job_aside)sqlite_row_int(query);
    standing->place.aside_since = 0;
    standing->place.aside_error = NULL;
}

bool sqlite_standing_load(struct sqlite *sqlite, int64_t seq, struct sqlite_standing *standing_out,
                          bool *found_out, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_STANDING);

    sqlite_query_int(&query, seq);
    if (!sqlite_query_row(&query, found_out, err))
        return false;
    if (*found_out) {
        read_job(&query, standing_out);
        read_state(&query, standing_out);
    }
    return true;
}

bool sqlite_standing_seq_of(struct sqlite *sqlite, const struct uuid *id, int64_t *seq_out,
                            struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_SEQ_OF_ID);

    sqlite_query_uuid(&query, id);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *seq_out = found ? sqlite_row_int(&query) : 0;
    return true;
}

bool sqlite_standing_load_by_id(struct sqlite *sqlite, const struct uuid *id,
                                struct sqlite_standing *standing_out, bool *found_out,
                                struct error *err)
{
    int64_t seq;

    if (!sqlite_standing_seq_of(sqlite, id, &seq, err))
        return false;
    return sqlite_standing_load(sqlite, seq, standing_out, found_out, err);
}

bool sqlite_standing_load_by_ref(struct sqlite *sqlite, int64_t ref, const struct uuid *id,
                                 struct sqlite_standing *standing_out, bool *found_out,
                                 struct error *err)
{
    *found_out = false;
    if (ref != 0 && !sqlite_standing_load(sqlite, ref, standing_out, found_out, err))
        return false;
    if (*found_out && uuid_compare(&standing_out->id, id) == 0)
        return true;
    return sqlite_standing_load_by_id(sqlite, id, standing_out, found_out, err);
}

struct keyed_fields sqlite_standing_fields(const struct sqlite_standing *standing)
{
    return (struct keyed_fields){
        .priority = standing->place.priority,
        .run_at = standing->run_at,
        .due = standing->place.due,
        .timeout = standing->timeout,
        .max_attempts = standing->max_attempts,
        .max_stalls = standing->max_stalls,
        .attempts = standing->attempts,
        .stalls = standing->stalls,
    };
}
