/*
 * stats.c - how many jobs of each state every queue has (see tally.h), and how many stand before
 * one.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"

static bool add_queue(struct sqlite_query *query, struct queue_stats_list *stats, struct error *err)
{
    struct queue_stats *line = queue_stats_list_add(stats);

    if (line == NULL)
        return error_no_memory(err);
    line->queue = sqlite_row_text(query, &stats->arena);
    line->paused_at = sqlite_row_int(query);
    line->paused_by = sqlite_row_text(query, &stats->arena);
    line->spent_until = sqlite_row_int(query);
    line->done_total = sqlite_row_int(query);
    line->failed_total = sqlite_row_int(query);
    line->oldest_ready = sqlite_row_int(query);
    for (size_t state = 0; state < JOB_STATES; state++)
        line->jobs[state] = sqlite_row_int(query);
    line->no_handler = sqlite_row_int(query);
    line->cannot_start = sqlite_row_int(query);
    return true;
}

bool sqlite_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_STATS);

    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
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
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_COUNT_BEFORE);

    sqlite_query_uuid(&query, &job->id);
    sqlite_query_int(&query, (int64_t)limit);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *count_out = (size_t)sqlite_row_int(&query);
    return true;
}
