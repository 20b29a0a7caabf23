/*
 * stats.c - how many jobs of each state every queue has (see tally.h), and how many stand before
 * one.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/ops/ops.h"

static bool add_queue(struct query *query, struct queue_stats_list *stats, struct error *err)
{
    struct queue_stats *line = queue_stats_list_add(stats);

    if (line == NULL)
        return error_no_memory(err);
    line->queue = column_text(query, &stats->arena);
    line->paused_at = column_int(query);
    line->paused_by = column_text(query, &stats->arena);
    line->spent_until = column_int(query);
    line->done_total = column_int(query);
    line->failed_total = column_int(query);
    line->oldest_ready = column_int(query);
    for (size_t state = 0; state < JOB_STATES; state++)
        line->jobs[state] = column_int(query);
    line->no_handler = column_int(query);
    line->cannot_start = column_int(query);
    return true;
}

bool sqlite_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite_of(store), SQL_STATS);

    for (;;) {
        if (!query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        if (!add_queue(&query, stats_out, err))
            return false;
    }
    return !stats_out->arena.failed || error_no_memory(err);
}

bool sqlite_count_before(struct store *store, const struct job *job, size_t limit,
                         size_t *count_out, struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite_of(store), SQL_COUNT_BEFORE);

    query_uuid(&query, &job->id);
    query_int(&query, (int64_t)limit);
    if (!query_row(&query, &found, err))
        return false;
    *count_out = (size_t)column_int(&query);
    return true;
}
