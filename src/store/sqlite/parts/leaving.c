/*
 * leaving.c - from `lease` to `ended`, `ready` or `waiting`.
 */
#include "store/sqlite/parts/leaving.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/parts/twins.h"

bool leaving_drop_lease(struct sqlite *sqlite, int64_t seq, int64_t queue_id, struct error *err)
{
    return tally_jobs(sqlite, queue_id, JOB_RUNNING, -1, err) &&
           query_on_seq(sqlite, SQL_LEASE_REMOVE, seq, err) && vacancy_note(sqlite, queue_id, err);
}

bool leaving_end(struct sqlite *sqlite, const struct standing *standing,
                 const struct ending *ending, usec_t now, struct error *err)
{
    const struct place *place = &standing->place;

    return leaving_drop_lease(sqlite, place->seq, place->queue_id, err) &&
           ending_write(sqlite, standing, ending, now, err) &&
           twins_running_ended(sqlite, standing, now, err);
}

static bool write_return(struct sqlite *sqlite, const struct standing *standing, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_JOB_RETURN);

    query_int(&query, standing->place.seq);
    query_int(&query, standing->place.due);
    query_int_or_null(&query, standing->run_at);
    query_int(&query, standing->attempts);
    query_int(&query, standing->stalls);
    query_int(&query, standing->executions);
    return query_run(&query, err);
}

bool leaving_return(struct sqlite *sqlite, struct standing *standing, enum job_state state,
                    usec_t now, struct error *err)
{
    struct place *place = &standing->place;
    bool moved;

    if (!leaving_drop_lease(sqlite, place->seq, place->queue_id, err) ||
        !twins_running_returns(sqlite, standing, now, &moved, err) ||
        !write_return(sqlite, standing, err))
        return false;
    place->state = moved ? job_state_when_due(place->due, now) : state;
    if (moved)
        place->aside = ASIDE_NONE;
    return place_add(sqlite, place, err);
}

bool leaving_record_run(struct sqlite *sqlite, const struct standing *standing,
                        const struct job_run *run, struct error *err)
{
    CLEANUP(query_done) struct query add = query_start(sqlite, SQL_RUN_ADD);
    CLEANUP(query_done) struct query trim = query_start(sqlite, SQL_RUN_TRIM);

    query_int(&add, standing->place.seq);
    query_int(&add, standing->executions);
    query_int(&add, run->outcome);
    query_text(&add, standing->pool[0] != '\0' ? standing->pool : NULL);
    query_int_or_null(&add, run->worker);
    query_int_or_null(&add, run->started_at);
    query_int(&add, run->wall);
    query_int(&add, run->user);
    query_int(&add, run->system);
    query_int(&add, run->max_rss_kb);
    if (run->exit_code != JOB_NO_EXIT_CODE)
        query_int(&add, run->exit_code);
    else
        query_null(&add);
    query_int_or_null(&add, run->signal);
    query_text(&add, run->error);
    if (!query_run(&add, err))
        return false;
    if (standing->executions <= JOB_RUNS_KEPT)
        return true;
    query_int(&trim, standing->place.seq);
    query_int(&trim, standing->executions - JOB_RUNS_KEPT);
    return query_run(&trim, err);
}
