/*
 * place.c - ready jobs in the order of reserving or aside, the other waiting ones by state and due.
 */
#include "store/sqlite/parts/place.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

#include <assert.h>

static bool ready_row(struct sqlite *sqlite, enum sql_statement which, const struct place *place,
                      struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, which);

    query_int(&query, place->queue_id);
    query_int(&query, place->priority);
    query_int(&query, place->due);
    query_int(&query, place->seq);
    return query_run(&query, err);
}

static bool aside_add(struct sqlite *sqlite, const struct place *place, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_ASIDE_ADD);

    query_int(&query, place->seq);
    query_int(&query, place->aside);
    query_int(&query, place->aside_since);
    query_text(&query, place->aside_error);
    return tally_aside(sqlite, place->queue_id, place->aside, 1, err) && query_run(&query, err);
}

static bool aside_remove(struct sqlite *sqlite, const struct place *place, struct error *err)
{
    return tally_aside(sqlite, place->queue_id, place->aside, -1, err) &&
           query_on_seq(sqlite, SQL_ASIDE_REMOVE, place->seq, err);
}

bool place_add(struct sqlite *sqlite, const struct place *place, struct error *err)
{
    assert(job_state_is_waiting(place->state));
    if (!tally_jobs(sqlite, place->queue_id, place->state, 1, err))
        return false;
    if (place->aside != ASIDE_NONE)
        return aside_add(sqlite, place, err);
    if (place->state == JOB_READY) {
        sqlite->ring = true;
        return ready_row(sqlite, SQL_READY_ADD, place, err);
    }
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_WAITING_ADD);
    query_int(&query, place->state);
    query_int(&query, place->due);
    query_int(&query, place->seq);
    query_int(&query, place->queue_id);
    return query_run(&query, err);
}

bool place_remove(struct sqlite *sqlite, const struct place *place, struct error *err)
{
    if (!tally_jobs(sqlite, place->queue_id, place->state, -1, err))
        return false;
    if (place->aside != ASIDE_NONE)
        return aside_remove(sqlite, place, err);
    if (place->state == JOB_READY)
        return ready_row(sqlite, SQL_READY_REMOVE, place, err);
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_WAITING_REMOVE);
    query_int(&query, place->state);
    query_int(&query, place->due);
    query_int(&query, place->seq);
    return query_run(&query, err);
}
