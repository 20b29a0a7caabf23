/*
 * standing.c - reads the statement `standing`. Text that does not fit is damage, and is cut.
 */
#include "store/sqlite/parts/standing.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

static void read_job(struct query *query, struct standing *standing)
{
    standing->place.seq = column_int(query);
    standing->id = column_uuid(query);
    standing->place.queue_id = column_int(query);
    column_copy(query, standing->type, sizeof(standing->type));
    standing->place.priority = (int)column_int(query);
    standing->place.due = column_int(query);
    standing->run_at = column_int(query);
    standing->timeout = column_int(query);
    standing->max_attempts = (int)column_int(query);
    standing->max_stalls = (int)column_int(query);
    standing->attempts = (int)column_int(query);
    standing->stalls = (int)column_int(query);
    column_copy(query, standing->key, sizeof(standing->key));
    standing->update = keyed_flags_unpack((int)column_int(query));
}

static void read_state(struct query *query, struct standing *standing)
{
    standing->place.state = (enum job_state)column_int(query);
    standing->executions = column_int(query);
    standing->has_token = !column_is_null(query);
    standing->token = column_token(query);
    standing->expires_at = column_int(query);
    column_copy(query, standing->pool, sizeof(standing->pool));
    standing->worker = (int)column_int(query);
    standing->started_at = column_int(query);
    standing->cancel_requested_at = column_int(query);
    const bool has_ended = !column_is_null(query);
    const int64_t ended_by = column_int(query);
    standing->ended_by = has_ended ? (int)ended_by : -1;
    standing->place.aside = (enum job_aside)column_int(query);
    standing->place.aside_since = 0;
    standing->place.aside_error = NULL;
}

bool standing_load(struct sqlite *sqlite, int64_t seq, struct standing *standing_out,
                   bool *found_out, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_STANDING);

    query_int(&query, seq);
    if (!query_row(&query, found_out, err))
        return false;
    if (*found_out) {
        read_job(&query, standing_out);
        read_state(&query, standing_out);
    }
    return true;
}

bool standing_seq_of(struct sqlite *sqlite, const struct uuid *id, int64_t *seq_out,
                     struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_SEQ_OF_ID);

    query_uuid(&query, id);
    if (!query_row(&query, &found, err))
        return false;
    *seq_out = found ? column_int(&query) : 0;
    return true;
}

bool standing_load_by_id(struct sqlite *sqlite, const struct uuid *id,
                         struct standing *standing_out, bool *found_out, struct error *err)
{
    int64_t seq;

    if (!standing_seq_of(sqlite, id, &seq, err))
        return false;
    return standing_load(sqlite, seq, standing_out, found_out, err);
}

bool standing_load_by_ref(struct sqlite *sqlite, int64_t ref, const struct uuid *id,
                          struct standing *standing_out, bool *found_out, struct error *err)
{
    *found_out = false;
    if (ref != 0 && !standing_load(sqlite, ref, standing_out, found_out, err))
        return false;
    if (*found_out && uuid_compare(&standing_out->id, id) == 0)
        return true;
    return standing_load_by_id(sqlite, id, standing_out, found_out, err);
}

struct keyed_fields standing_fields(const struct standing *standing)
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
