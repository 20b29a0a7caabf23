/*
 * columns.c - columns, one after the other.
 */
#include "store/columns.h"

#include "store/defect.h"
#include "store/driver.h"

static int64_t number(struct columns *columns)
{
    return columns->reader->number(columns->row);
}

static int small(struct columns *columns)
{
    return (int)number(columns);
}

static int small_or(struct columns *columns, int absent)
{
    bool is_null = columns->reader->is_null(columns->row);
    int value = small(columns);

    return is_null ? absent : value;
}

static const char *text(struct columns *columns)
{
    return columns->reader->text(columns->row, columns->arena);
}

static struct bytes bytes(struct columns *columns)
{
    return columns->reader->bytes(columns->row, columns->arena);
}

static struct uuid uuid(struct columns *columns)
{
    return columns->reader->uuid(columns->row);
}

static struct lease_token token(struct columns *columns)
{
    return columns->reader->token(columns->row);
}

bool columns_reserved(struct columns *columns, struct job *job)
{
    job->ref = number(columns);
    job->id = uuid(columns);
    job->type = text(columns);
    const int64_t packed = number(columns), encoding = packed & ~(int64_t)COLUMNS_EXTRAS;
    job->encoding = encoding == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->priority = small(columns);
    job->due = number(columns);
    job->run_at = number(columns);
    job->timeout = number(columns);
    job->max_attempts = small(columns);
    job->max_stalls = small(columns);
    job->attempts = small(columns);
    job->stalls = small(columns);
    job->executions = number(columns);
    job->created_at = number(columns);
    job->key = text(columns);
    job_flags_unpack(small(columns), job);
    job->idempotency_key = text(columns);
    job->payload = bytes(columns);
    job->defect = defect_of(job);
    if (!job->defect && encoding != JOB_JSON && encoding != JOB_RAW)
        job->defect = DEFECT_ENCODING;
    return packed != encoding;
}

void columns_extras(struct columns *columns, struct job *job)
{
    job->headers = text(columns);
    job->tags = tags_parse(text(columns), columns->arena);
    if (job->headers && !job->defect)
        job->defect = defect_of(job);
}

void columns_held(struct columns *columns, struct job *job)
{
    (void)columns_reserved(columns, job);
    job->queue = text(columns);
    job->token = token(columns);
    job->expires_at = number(columns);
    job->started_at = number(columns);
    job->worker = small(columns);
    job->cancel_requested_at = number(columns);
    job->state = JOB_RUNNING;
}

void columns_job(struct columns *columns, struct job *job)
{
    job->ref = number(columns);
    job->id = uuid(columns);
    job->type = text(columns);
    job->queue = text(columns);
    job->state = (enum job_state)number(columns);
    job->encoding = number(columns) == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->payload = bytes(columns);
    job->priority = small(columns);
    job->due = number(columns);
    job->run_at = number(columns);
    job->timeout = number(columns);
    job->attempts = small(columns);
    job->max_attempts = small(columns);
    job->executions = number(columns);
    job->stalls = small(columns);
    job->max_stalls = small(columns);
    job->key = text(columns);
    job_flags_unpack(small(columns), job);
    job->idempotency_key = text(columns);
    job->created_at = number(columns);
    job->started_at = number(columns);
    job->ended_at = number(columns);
    job->token = token(columns);
    job->expires_at = number(columns);
    job->pool = text(columns);
    job->worker = small(columns);
    job->cancel_requested_at = number(columns);
    job->merged_into = uuid(columns);
    job->last_error = text(columns);
    job->failed_at = number(columns);
    job->reason = (enum job_reason)number(columns);
    job->exit_code = small_or(columns, JOB_NO_EXIT_CODE);
    job->signal = small(columns);
    job->progress_percent = small_or(columns, -1);
    job->progress_text = text(columns);
    job->result = bytes(columns);
    job->output = bytes(columns);
    job->aside = (enum job_aside)number(columns);
    job->aside_since = number(columns);
    columns_extras(columns, job);
}

void columns_run(struct columns *columns, struct job_run *run)
{
    run->execution = number(columns);
    run->outcome = (enum run_outcome)number(columns);
    run->pool = text(columns);
    run->worker = small(columns);
    run->started_at = number(columns);
    run->wall = number(columns);
    run->user = number(columns);
    run->system = number(columns);
    run->max_rss_kb = number(columns);
    run->exit_code = small_or(columns, JOB_NO_EXIT_CODE);
    run->signal = small(columns);
    run->error = text(columns);
}

void columns_failure(struct columns *columns, struct job *job)
{
    job->id = uuid(columns);
    job->type = text(columns);
    job->queue = text(columns);
    job->state = (enum job_state)number(columns);
    job->attempts = small(columns);
    job->max_attempts = small(columns);
    job->last_error = text(columns);
    job->failed_at = number(columns);
    job->reason = (enum job_reason)number(columns);
}

void columns_pool(struct columns *columns, struct pool *pool)
{
    pool->name = text(columns);
    pool->host = text(columns);
    pool->pid = number(columns);
    pool->started_at = number(columns);
    pool->beat_at = number(columns);
    pool->status = bytes(columns);
    pool->want = pool_want_of(number(columns));
    pool->wanted_at = number(columns);
    pool->wanted_by = text(columns);
}

void columns_stats(struct columns *columns, struct queue_stats *stats)
{
    stats->queue = text(columns);
    stats->paused_at = number(columns);
    stats->paused_by = text(columns);
    stats->spent_until = number(columns);
    stats->done_total = number(columns);
    stats->failed_total = number(columns);
    for (size_t state = 0; state < JOB_STATES; state++)
        stats->jobs[state] = number(columns);
    stats->no_handler = number(columns);
    stats->cannot_start = number(columns);
    stats->oldest_ready = number(columns);
}
