/*
 * leaving.c - from `lease` to `ended`, `ready` or `waiting`.
 */
#include "store/sqlite/parts/leaving.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/parts/twins.h"

bool sqlite_leaving_drop_lease(struct sqlite *sqlite, int64_t seq, int64_t queue_id,
                               struct error *err)
{
    return sqlite_tally_jobs(sqlite, queue_id, JOB_RUNNING, -1, err) &&
           sqlite_query_on_seq(sqlite, SQL_LEASE_REMOVE, seq, err) &&
           sqlite_vacancy_note(sqlite, queue_id, err);
}

bool sqlite_leaving_end(struct sqlite *sqlite, const struct sqlite_standing *standing,
                        const struct sqlite_ending *ending, usec_t now, struct error *err)
{
    const struct sqlite_place *place = &standing->place;

    return sqlite_leaving_drop_lease(sqlite, place->seq, place->queue_id, err) &&
           sqlite_ending_write(sqlite, standing, ending, now, err) &&
           sqlite_twins_running_ended(sqlite, standing, now, err);
}

static bool write_return(struct sqlite *sqlite, const struct sqlite_standing *standing,
                         struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_JOB_RETURN);

    sqlite_query_int(&query, standing->place.seq);
    sqlite_query_int(&query, standing->place.due);
    sqlite_query_int_or_null(&query, standing->run_at);
    sqlite_query_int(&query, standing->attempts);
    sqlite_query_int(&query, standing->stalls);
    sqlite_query_int(&query, standing->executions);
    return sqlite_query_run(&query, err);
}

bool sqlite_leaving_return(struct sqlite *sqlite, struct sqlite_standing *standing,
                           enum job_state state, usec_t now, struct error *err)
{
    struct sqlite_place *place = &standing->place;
    bool moved;

    if (!sqlite_leaving_drop_lease(sqlite, place->seq, place->queue_id, err) ||
        !sqlite_twins_running_returns(sqlite, standing, now, &moved, err) ||
        !write_return(sqlite, standing, err))
        return false;
    place->state = moved ? job_state_when_due(place->due, now) : state;
    if (moved)
        place->aside = ASIDE_NONE;
    return sqlite_place_add(sqlite, place, err);
}

bool sqlite_leaving_record_run(struct sqlite *sqlite, const struct sqlite_standing *standing,
                               const struct job_run *run, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query add = sqlite_query_start(sqlite, SQL_RUN_ADD);
    CLEANUP(sqlite_query_done) struct sqlite_query trim = sqlite_query_start(sqlite, SQL_RUN_TRIM);

    sqlite_query_int(&add, standing->place.seq);
    sqlite_query_int(&add, standing->executions);
    sqlite_query_int(&add, run->outcome);
    sqlite_query_text(&add, standing->pool[0] != '\0' ? standing->pool : NULL);
    sqlite_query_int_or_null(&add, run->worker);
    sqlite_query_int_or_null(&add, run->started_at);
    sqlite_query_int(&add, run->wall);
    sqlite_query_int(&add, run->user);
    sqlite_query_int(&add, run->system);
    sqlite_query_int(&add, run->max_rss_kb);
    if (run->exit_code != JOB_NO_EXIT_CODE)
        sqlite_query_int(&add, run->exit_code);
    else
        sqlite_query_null(&add);
    sqlite_query_int_or_null(&add, run->signal);
    sqlite_query_text(&add, run->error);
    if (!sqlite_query_run(&add, err))
        return false;
    if (standing->executions <= JOB_RUNS_KEPT)
        return true;
    sqlite_query_int(&trim, standing->place.seq);
    sqlite_query_int(&trim, standing->executions - JOB_RUNS_KEPT);
    return sqlite_query_run(&trim, err);
}
