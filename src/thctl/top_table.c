/*
 * top_table.c - the sections of `thctl top` as tables.
 */
#include "thctl/top_table.h"

#include "base/text.h"
#include "base/units.h"
#include "thctl/id_prefix.h"
#include "thctl/sheet.h"

#include <string.h>

#define MARK "▾"

/* clang-format off */
static const struct table_column worker_columns[] = {
    {.title = "WORKER", .cut_from = 12},
    {.title = "STATE"},
    {.title = "FOR", .right = true},
    {.title = "TYPE", .cut_from = 12},
    {.title = "JOB", .expendable = 2},
    {.title = "DONE", .right = true, .expendable = 3},
    {.title = "PROGRESS", .expendable = 1, .cut_from = 12},
};

static const struct table_column queue_columns[] = {
    {.title = "QUEUE", .cut_from = 12},
    {.title = "PAUSED", .expendable = 1},
    {.title = "READY", .right = true},
    {.title = "RUNNING", .right = true},
    {.title = "RETRY", .right = true},
    {.title = "DEAD", .right = true},
    {.title = "SCHEDULED", .right = true, .expendable = 3},
    {.title = "BLOCKED", .right = true, .expendable = 4},
    {.title = "OLDEST", .right = true, .expendable = 2},
    {.title = "DONE/S", .right = true},
    {.title = "FAILED/S", .right = true},
};

static const struct table_column failure_columns[] = {
    {.title = "FAILED", .right = true},
    {.title = "STATE"},
    {.title = "QUEUE", .expendable = 3, .cut_from = 8},
    {.title = "TYPE", .cut_from = 12},
    {.title = "JOB", .expendable = 1},
    {.title = "TRY", .right = true, .expendable = 2},
    {.title = "ERROR", .cut_from = 30},
};

/* The pools are as `thctl pools` has them. */
static const struct {
    const struct table_column *columns;
    size_t count;
    const char *nothing;
} tables[] = {
    [TOP_POOLS] = {pool_sight_columns, POOL_SIGHT_COLUMNS, "no pool has registered: start one with thd"},
    [TOP_WORKERS] = {worker_columns, COUNT_OF(worker_columns), "no workers"},
    [TOP_QUEUES] = {queue_columns, COUNT_OF(queue_columns), "no queues yet: the first job makes one"},
    [TOP_FAILURES] = {failure_columns, COUNT_OF(failure_columns), "nothing has failed"},
};
/* clang-format on */

/* ---- cells ---- */

static void add_id(struct table *table, const char *id, bool wide)
{
    char shown[UUID_TEXT_SIZE];

    table_add(table, COLOUR_NONE, id ? id_prefix_show(id, wide, shown) : NULL);
}

/* In whole seconds: fractions of something that is a heartbeat old would only flicker. */
static void add_duration(struct table *table, enum colour colour, usec_t since, usec_t now)
{
    usec_t duration = now > since ? now - since : 0;
    char text[UNITS_TEXT_SIZE];

    units_format_duration(duration - duration % USEC_PER_SEC, text);
    table_add(table, colour, since != 0 ? text : NULL);
}

static void add_count(struct table *table, const struct top_queue *queue, enum job_state state)
{
    table_add_number(table, sheet_state_colour(state), queue->stats->jobs[state]);
}

static void add_rate(struct table *table, enum colour colour, double rate)
{
    char text[TOP_RATE_SIZE];

    table_add(table, rate > 0 ? colour : COLOUR_DIM, rate >= 0 ? top_table_rate(rate, text) : NULL);
}

/* ---- rows ---- */

/* "worker 3", or "web-1 3" where there are several pools. */
static void add_worker_name(struct table *table, const struct top_worker *worker, bool name_pool)
{
    const char *name = worker->process->name;
    char text[256];

    snprintf(text, sizeof text, "%s %s", worker->pool, name + strcspn(name, "0123456789"));
    table_add(table, COLOUR_NONE, name_pool ? text : name);
}

static void add_worker(struct table *table, const struct top_worker *worker, bool name_pool,
                       bool wide, usec_t now)
{
    const struct pool_process *process = worker->process;

    add_worker_name(table, worker, name_pool);
    pool_sight_add_state(table, process);
    add_duration(table, pool_process_is_busy(process) ? COLOUR_NONE : COLOUR_DIM, process->since,
                 now);
    table_add(table, COLOUR_NONE, process->type);
    add_id(table, process->job, wide);
    if (process->jobs_done >= 0)
        table_add_number(table, COLOUR_NONE, process->jobs_done);
    else
        table_add(table, COLOUR_NONE, NULL);
    pool_sight_add_progress(table, process);
}

static void add_queue(struct table *table, const struct top_queue *queue, usec_t now)
{
    table_add(table, COLOUR_NONE, queue->stats->queue);
    table_add(table, COLOUR_YELLOW, queue->stats->paused_at != 0 ? "paused" : NULL);
    add_count(table, queue, JOB_READY);
    add_count(table, queue, JOB_RUNNING);
    add_count(table, queue, JOB_RETRY);
    add_count(table, queue, JOB_DEAD);
    add_count(table, queue, JOB_SCHEDULED);
    add_count(table, queue, JOB_BLOCKED);
    add_duration(table, COLOUR_NONE, queue->stats->oldest_ready, now);
    add_rate(table, COLOUR_GREEN, queue->done_rate);
    add_rate(table, COLOUR_RED, queue->failed_rate);
}

static void add_try(struct table *table, const struct job *job)
{
    char text[32];

    if (job->max_attempts > 0)
        snprintf(text, sizeof text, "%d/%d", job->attempts, job->max_attempts);
    else
        snprintf(text, sizeof text, "%d", job->attempts);
    table_add(table, COLOUR_NONE, text);
}

static void add_failure(struct table *table, const struct job *job, bool wide, usec_t now)
{
    char id[UUID_TEXT_SIZE];

    pool_sight_add_ago(table, COLOUR_NONE, job->failed_at, now);
    table_add(table, sheet_state_colour(job->state), job_state_name(job->state));
    table_add(table, COLOUR_NONE, job->queue);
    table_add(table, COLOUR_NONE, job->type);
    add_id(table, uuid_format(&job->id, id), wide);
    add_try(table, job);
    table_add_last_line(table, COLOUR_NONE, job->last_error);
}

/* ---- sections ---- */

static void fill(struct table *table, const struct top_data *data, enum top_section section,
                 bool wide)
{
    switch (section) {
    case TOP_POOLS:
        for (size_t i = 0; i < data->pool_count; i++)
            pool_sight_add(table, &data->pools[i], data->now);
        return;
    case TOP_WORKERS:
        for (size_t i = 0; i < data->worker_count; i++)
            add_worker(table, &data->workers[i], data->pool_count > 1, wide, data->now);
        return;
    case TOP_QUEUES:
        for (size_t i = 0; i < data->queue_count; i++)
            add_queue(table, &data->queues[i], data->now);
        return;
    case TOP_FAILURES:
        for (size_t i = 0; i < data->failures.count; i++)
            add_failure(table, &data->failures.items[i], wide, data->now);
        return;
    case TOP_SECTIONS:
        return;
    }
}

/* Without the mark when there is no memory for it. */
static void mark_column(struct table *table, const char *title)
{
    struct table_column *columns =
        arena_alloc(&table->arena, table->column_count * sizeof *columns);
    char marked[64];

    if (!columns)
        return;
    snprintf(marked, sizeof marked, "%s" MARK, title);
    for (size_t i = 0; i < table->column_count; i++) {
        columns[i] = table->columns[i];
        if (text_equal(columns[i].title, title))
            columns[i].title = arena_text(&table->arena, marked);
    }
    table->columns = columns;
}

struct table top_table_of(const struct top_data *data, enum top_section section,
                          const char *sorted_by, bool wide)
{
    struct table table = {.columns = tables[section].columns,
                          .column_count = tables[section].count};

    if (sorted_by)
        mark_column(&table, sorted_by);
    fill(&table, data, section, wide);
    return table;
}

const char *top_table_nothing(enum top_section section)
{
    return tables[section].nothing;
}

const char *top_table_rate(double rate, char text[TOP_RATE_SIZE])
{
    char number[OUTPUT_NUMBER_SIZE];

    if (rate < 0)
        snprintf(text, TOP_RATE_SIZE, "-");
    else if (rate > 0 && rate < 9.95)
        snprintf(text, TOP_RATE_SIZE, "%.1f", rate < 0.1 ? 0.1 : rate);
    else
        snprintf(text, TOP_RATE_SIZE, "%s", output_number((int64_t)(rate + 0.5), number));
    return text;
}
