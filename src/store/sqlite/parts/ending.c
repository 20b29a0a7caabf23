/*
 * ending.c - the table `ended`.
 */
#include "store/sqlite/parts/ending.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/parts/tags.h"

static void bind_run(struct sqlite_query *query, const struct job_run *run)
{
    if (!run) {
        for (int i = 0; i < 5; i++)
            sqlite_query_null(query);
        return;
    }
    sqlite_query_int(query, run->wall);
    sqlite_query_int(query, run->user);
    sqlite_query_int(query, run->system);
    sqlite_query_int(query, run->max_rss_kb);
    if (run->exit_code != JOB_NO_EXIT_CODE)
        sqlite_query_int(query, run->exit_code);
    else
        sqlite_query_null(query);
}

bool sqlite_ending_write(struct sqlite *sqlite, const struct sqlite_standing *standing,
                         const struct sqlite_ending *ending, usec_t now, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_ENDED_ADD);

    if (!sqlite_tally_jobs(sqlite, standing->place.queue_id, ending->state, 1, err))
        return false;
    sqlite_query_int(&query, standing->place.seq);
    sqlite_query_int(&query, ending->state);
    sqlite_query_int(&query, standing->place.queue_id);
    sqlite_query_int(&query, now);
    sqlite_query_int(&query, standing->executions);
    sqlite_query_int(&query, standing->attempts);
    sqlite_query_int(&query, standing->stalls);
    if (standing->has_token)
        sqlite_query_token(&query, &standing->token);
    else
        sqlite_query_null(&query);
    if (ending->settled)
        sqlite_query_int(&query, ending->ended_by);
    else
        sqlite_query_null(&query);
    sqlite_query_int(&query, !ending->is_plain);
    sqlite_query_text(&query, standing->pool[0] != '\0' ? standing->pool : NULL);
    sqlite_query_int_or_null(&query, standing->worker);
    sqlite_query_int_or_null(&query, standing->started_at);
    bind_run(&query, ending->run);
    sqlite_query_int_or_null(&query, standing->cancel_requested_at);
    if (uuid_is_nil(&ending->merged_into))
        sqlite_query_null(&query);
    else
        sqlite_query_uuid(&query, &ending->merged_into);
    return sqlite_query_run(&query, err);
}

bool sqlite_ending_leave(struct sqlite *sqlite, const struct sqlite_place *place, struct error *err)
{
    return sqlite_tally_jobs(sqlite, place->queue_id, place->state, -1, err) &&
           sqlite_query_on_seq(sqlite, SQL_ENDED_REMOVE, place->seq, err);
}

bool sqlite_ending_forget(struct sqlite *sqlite, const struct sqlite_place *place, bool traces,
                          struct error *err)
{
    return sqlite_ending_leave(sqlite, place, err) &&
           (!traces || (sqlite_tags_leave(sqlite, place->seq, err) &&
                        sqlite_query_on_seq(sqlite, SQL_DETAIL_REMOVE, place->seq, err) &&
                        sqlite_query_on_seq(sqlite, SQL_RUN_REMOVE, place->seq, err))) &&
           sqlite_query_on_seq(sqlite, SQL_JOB_REMOVE, place->seq, err);
}
