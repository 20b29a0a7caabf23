/*
 * ending.c - the table `ended`.
 */
#include "store/sqlite/parts/ending.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

static void bind_run(struct query *query, const struct job_run *run)
{
    if (run == NULL) {
        for (int i = 0; i < 5; i++)
            query_null(query);
        return;
    }
    query_int(query, run->wall);
    query_int(query, run->user);
    query_int(query, run->system);
    query_int(query, run->max_rss_kb);
    if (run->exit_code != JOB_NO_EXIT_CODE)
        query_int(query, run->exit_code);
    else
        query_null(query);
}

bool ending_write(struct sqlite *sqlite, const struct standing *standing,
                  const struct ending *ending, usec_t now, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_ENDED_ADD);

    if (!tally_jobs(sqlite, standing->place.queue_id, ending->state, 1, err))
        return false;
    query_int(&query, standing->place.seq);
    query_int(&query, ending->state);
    query_int(&query, standing->place.queue_id);
    query_int(&query, now);
    query_int(&query, standing->executions);
    query_int(&query, standing->attempts);
    query_int(&query, standing->stalls);
    if (standing->has_token)
        query_token(&query, &standing->token);
    else
        query_null(&query);
    if (ending->settled)
        query_int(&query, ending->ended_by);
    else
        query_null(&query);
    query_int(&query, !ending->is_plain);
    query_text(&query, standing->pool[0] != '\0' ? standing->pool : NULL);
    query_int_or_null(&query, standing->worker);
    query_int_or_null(&query, standing->started_at);
    bind_run(&query, ending->run);
    query_int_or_null(&query, standing->cancel_requested_at);
    if (uuid_is_nil(&ending->merged_into))
        query_null(&query);
    else
        query_uuid(&query, &ending->merged_into);
    return query_run(&query, err);
}

bool ending_leave(struct sqlite *sqlite, const struct place *place, struct error *err)
{
    return tally_jobs(sqlite, place->queue_id, place->state, -1, err) &&
           query_on_seq(sqlite, SQL_ENDED_REMOVE, place->seq, err);
}

bool ending_forget(struct sqlite *sqlite, const struct place *place, bool traces, struct error *err)
{
    return ending_leave(sqlite, place, err) &&
           (!traces || (query_on_seq(sqlite, SQL_DETAIL_REMOVE, place->seq, err) &&
                        query_on_seq(sqlite, SQL_RUN_REMOVE, place->seq, err))) &&
           query_on_seq(sqlite, SQL_JOB_REMOVE, place->seq, err);
}
