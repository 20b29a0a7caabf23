/*
 * stats.c - how many jobs of each state every queue has.
 */
#include "base/cleanup.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_jobs.h"

#include <stdlib.h>

/* Which queue each line of the answer is; the statements below name queues by number. */
struct queue_lines {
    struct queue_stats_list *stats;
    int64_t *ids; /* owned */
};

static bool add_queue(struct queue_lines *lines, struct query *query, struct error *err)
{
    struct queue_stats_list *stats = lines->stats;
    struct queue_stats *line = queue_stats_list_add(stats);
    int64_t *ids = realloc(lines->ids, stats->count * sizeof(*ids));

    if (ids != NULL)
        lines->ids = ids;
    if (line == NULL || ids == NULL)
        return error_no_memory(err);
    ids[stats->count - 1] = column_int(query);
    line->queue = column_text(query, &stats->arena);
    line->paused_at = column_int(query);
    line->done_total = column_int(query);
    line->failed_total = column_int(query);
    return true;
}

static bool load_queues(struct sqlite *sqlite, struct queue_lines *lines, struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_STATS_QUEUES);

    for (;;) {
        if (!query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        if (!add_queue(lines, &query, err))
            return false;
    }
    return !lines->stats->arena.failed || error_no_memory(err);
}

static struct queue_stats *line_of(const struct queue_lines *lines, int64_t queue_id)
{
    for (size_t i = 0; lines->ids != NULL && i < lines->stats->count; i++)
        if (lines->ids[i] == queue_id)
            return &lines->stats->items[i];
    return NULL;
}

static bool count(struct sqlite *sqlite, const struct queue_lines *lines, enum sql_statement which,
                  struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, which);

    for (;;) {
        if (!query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        struct queue_stats *line = line_of(lines, column_int(&query));
        int64_t state = column_int(&query);
        if (line == NULL)
            continue;
        line->jobs[state] = column_int(&query);
        if (state == JOB_READY)
            line->oldest_ready = column_int(&query);
    }
}

static bool count_all(struct sqlite *sqlite, struct queue_lines *lines, struct error *err)
{
    return load_queues(sqlite, lines, err) && count(sqlite, lines, SQL_STATS_READY, err) &&
           count(sqlite, lines, SQL_STATS_WAITING, err) &&
           count(sqlite, lines, SQL_STATS_RUNNING, err) &&
           count(sqlite, lines, SQL_STATS_ENDED, err);
}

bool sqlite_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);
    struct queue_lines lines = {.stats = stats_out};

    bool counted =
        sqlite_begin_read(sqlite, err) && sqlite_end(sqlite, count_all(sqlite, &lines, err), err);
    free(lines.ids);
    return counted;
}
