/*
 * stats.c - how many jobs of each state every queue has (see tally.h), and how many stand before
 * one.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"

bool sqlite_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_STATS);
    struct columns columns = sqlite_columns_of(&query, &stats_out->arena);

    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        struct queue_stats *stats = queue_stats_list_add(stats_out);
        if (!stats)
            return error_no_memory(err);
        columns_stats(&columns, stats);
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
