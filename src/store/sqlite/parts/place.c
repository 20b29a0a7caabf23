/*
 * place.c - ready jobs in the order of reserving or aside, the other waiting ones by state and due.
 */
#include "store/sqlite/parts/place.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

#include <assert.h>

static bool ready_row(struct sqlite *sqlite, enum sql_statement which,
                      const struct sqlite_place *place, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    sqlite_query_int(&query, place->queue_id);
    sqlite_query_int(&query, place->priority);
    sqlite_query_int(&query, place->due);
    sqlite_query_int(&query, place->seq);
    return sqlite_query_run(&query, err);
}

static bool aside_add(struct sqlite *sqlite, const struct sqlite_place *place, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_ASIDE_ADD);

    sqlite_query_int(&query, place->seq);
    sqlite_query_int(&query, place->aside);
    sqlite_query_int(&query, place->aside_since);
    sqlite_query_text(&query, place->aside_error);
    return sqlite_tally_aside(sqlite, place->queue_id, place->aside, 1, err) &&
           sqlite_query_run(&query, err);
}

static bool aside_remove(struct sqlite *sqlite, const struct sqlite_place *place, struct error *err)
{
    return sqlite_tally_aside(sqlite, place->queue_id, place->aside, -1, err) &&
           sqlite_query_on_seq(sqlite, SQL_ASIDE_REMOVE, place->seq, err);
}

bool sqlite_place_add(struct sqlite *sqlite, const struct sqlite_place *place, struct error *err)
{
    assert(job_state_is_waiting(place->state));
    if (!sqlite_tally_jobs(sqlite, place->queue_id, place->state, 1, err))
        return false;
    if (place->aside != ASIDE_NONE)
        return aside_add(sqlite, place, err);
    if (place->state == JOB_READY) {
        sqlite->ring = true;
        return ready_row(sqlite, SQL_READY_ADD, place, err);
    }
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_WAITING_ADD);
    sqlite_query_int(&query, place->state);
    sqlite_query_int(&query, place->due);
    sqlite_query_int(&query, place->seq);
    sqlite_query_int(&query, place->queue_id);
    return sqlite_query_run(&query, err);
}

bool sqlite_place_remove(struct sqlite *sqlite, const struct sqlite_place *place, struct error *err)
{
    if (!sqlite_tally_jobs(sqlite, place->queue_id, place->state, -1, err))
        return false;
    if (place->aside != ASIDE_NONE)
        return aside_remove(sqlite, place, err);
    if (place->state == JOB_READY)
        return ready_row(sqlite, SQL_READY_REMOVE, place, err);
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_WAITING_REMOVE);
    sqlite_query_int(&query, place->state);
    sqlite_query_int(&query, place->due);
    sqlite_query_int(&query, place->seq);
    return sqlite_query_run(&query, err);
}
