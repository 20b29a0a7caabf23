/*
 * stats.c - how many jobs of each state every queue has, and how many stand before one.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/columns.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

/* Rows of `counted`: above so many, whoever has read them adds them up. */
#define DELTAS_MAX 10000

/* One row per queue; how many rows of `counted` it took is in each of them. */
static bool read_stats(struct pg_answer *answer, struct queue_stats_list *stats_out,
                       int64_t *deltas_out, struct error *err)
{
    struct columns columns = pg_columns_of(answer, &stats_out->arena);

    *deltas_out = 0;
    while (pg_answer_next(answer)) {
        struct queue_stats *line = queue_stats_list_add(stats_out);
        if (!line)
            return error_no_memory(err);
        columns_stats(&columns, line);
        *deltas_out = pg_answer_int(answer);
    }
    return !stats_out->arena.failed || error_no_memory(err);
}

/* The reaper does it otherwise. Whoever may only read cannot, and need not know. */
static void add_up_counts(struct postgres *postgres)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_ADD_UP_COUNTS);
    struct error ignored;

    (void)!pg_statement_run(&call, NULL, &ignored);
}

bool pg_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_STATS);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};
    int64_t deltas;

    if (!pg_statement_run(&call, &answer, err) || !read_stats(&answer, stats_out, &deltas, err))
        return false;
    if (deltas > DELTAS_MAX)
        add_up_counts(postgres);
    return true;
}

bool pg_count_before(struct store *store, const struct job *job, size_t limit, size_t *count_out,
                     struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_COUNT_BEFORE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_uuid(&call, &job->id);
    pg_statement_int(&call, (int64_t)limit);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    *count_out = pg_answer_next(&answer) ? (size_t)pg_answer_int(&answer) : 0;
    return true;
}
