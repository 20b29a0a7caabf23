/*
 * pg_stats.c - how many jobs of each state every queue has, and the jobs that failed last.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "store/postgres/answer.h"
#include "store/postgres/postgres_jobs.h"
#include "store/postgres/statement.h"

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

/* The line of the queue that the row is about: the last one, or a new one behind it. */
static struct queue_stats *line_of(struct queue_stats_list *stats, struct answer *answer)
{
    const char *queue = answer_text(answer, &stats->arena);
    struct queue_stats *line = stats->count > 0 ? &stats->items[stats->count - 1] : NULL;

    if (line == NULL || !text_equal(line->queue, queue))
        line = queue_stats_list_add(stats);
    if (line != NULL)
        line->queue = queue;
    return line;
}

static bool read_stats(struct answer *answer, struct queue_stats_list *stats_out, struct error *err)
{
    while (answer_next(answer)) {
        struct queue_stats *line = line_of(stats_out, answer);
        if (line == NULL)
            return error_no_memory(err);
        line->paused_at = answer_int(answer);
        line->done_total = answer_int(answer);
        line->failed_total = answer_int(answer);
        if (answer_is_null(answer))
            continue;
        int64_t state = answer_int(answer);
        line->jobs[state] = answer_int(answer);
        if (state == JOB_READY)
            line->oldest_ready = answer_int(answer);
    }
    return !stats_out->arena.failed || error_no_memory(err);
}

bool postgres_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres_of(store), SQL_STATS);
    CLEANUP(answer_done) struct answer answer = {0};

    return statement_run(&call, &answer, err) && read_stats(&answer, stats_out, err);
}
