/*
 * stats.c - how many jobs of each state every queue has, how many stand before one, and the jobs
 * that failed last.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/statement.h"

static void read_failure(struct answer *answer, struct arena *arena, struct job *job)
{
    job->id = answer_uuid(answer);
    job->type = answer_text(answer, arena);
    job->queue = answer_text(answer, arena);
    job->state = (enum job_state)answer_int(answer);
    job->attempts = (int)answer_int(answer);
    job->max_attempts = (int)answer_int(answer);
    job->last_error = answer_text(answer, arena);
    job->failed_at = answer_int(answer);
    job->reason = (enum job_reason)answer_int(answer);
}

bool postgres_failures(struct store *store, size_t limit, struct job_list *jobs_out,
                       struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_FAILURES);
    CLEANUP(answer_done) struct answer answer = {0};

    statement_int(&call, (int64_t)limit);
    if (!statement_run(&call, &answer, err))
        return false;
    while (answer_next(&answer)) {
        struct job *job = job_list_add(jobs_out);
        if (job == NULL)
            return error_no_memory(err);
        read_failure(&answer, &jobs_out->arena, job);
    }
    return !jobs_out->arena.failed || error_no_memory(err);
}

/* Rows of `counted`: above so many, whoever has read them adds them up. */
#define DELTAS_MAX 10000

/* One row per queue; how many rows of `counted` it took is in each of them. */
static bool read_stats(struct answer *answer, struct queue_stats_list *stats_out,
                       int64_t *deltas_out, struct error *err)
{
    *deltas_out = 0;
    while (answer_next(answer)) {
        struct queue_stats *line = queue_stats_list_add(stats_out);
        if (line == NULL)
            return error_no_memory(err);
        line->queue = answer_text(answer, &stats_out->arena);
        line->paused_at = answer_int(answer);
        line->paused_by = answer_text(answer, &stats_out->arena);
        line->spent_until = answer_int(answer);
        line->done_total = answer_int(answer);
        line->failed_total = answer_int(answer);
        for (int state = 0; state < JOB_STATES; state++)
            line->jobs[state] = answer_int(answer);
        line->no_handler = answer_int(answer);
        line->cannot_start = answer_int(answer);
        line->oldest_ready = answer_int(answer);
        *deltas_out = answer_int(answer);
    }
    return !stats_out->arena.failed || error_no_memory(err);
}

/* The reaper does it otherwise. Who may only read cannot, and is not told so. */
static void add_up_counts(struct postgres *postgres)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_ADD_UP_COUNTS);
    struct error ignored;

    (void)!statement_run(&call, NULL, &ignored);
}

bool postgres_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    struct postgres *postgres = postgres_of(store);
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_STATS);
    CLEANUP(answer_done) struct answer answer = {0};
    int64_t deltas;

    if (!statement_run(&call, &answer, err) || !read_stats(&answer, stats_out, &deltas, err))
        return false;
    if (deltas > DELTAS_MAX)
        add_up_counts(postgres);
    return true;
}

bool postgres_count_before(struct store *store, const struct job *job, size_t limit,
                           size_t *count_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_COUNT_BEFORE);
    CLEANUP(answer_done) struct answer answer = {0};

    statement_uuid(&call, &job->id);
    statement_int(&call, (int64_t)limit);
    if (!statement_run(&call, &answer, err))
        return false;
    *count_out = answer_next(&answer) ? (size_t)answer_int(&answer) : 0;
    return true;
}
