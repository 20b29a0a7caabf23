/*
 * top_data.c - what `thctl top` shows: one look at the store, and the rates since the one before.
 */
#include "thctl/top_data.h"

#include "base/clock.h"
#include "base/text.h"

#include <string.h>

/* More than a screen has lines: the rest is for those who scroll. */
#define FAILURES_SHOWN 100

/* Pools are called NAME.RANDOM, so that a pool that is restarted is another one. */
static size_t plain_length(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* The plain name, unless another pool has the same. */
static const char *label_of(struct top_data *data, const char *name)
{
    const size_t length = plain_length(name);
    size_t same = 0;

    for (size_t i = 0; i < data->pool_count; i++) {
        const char *other = data->pools[i].pool->name;
        same += plain_length(other) == length && strncmp(other, name, length) == 0;
    }
    return same > 1 ? name : arena_text_of(&data->arena, name, length);
}

static void add_workers(struct top_data *data, const struct pool_sight *sight)
{
    const char *label = label_of(data, sight->pool->name);

    for (size_t i = 0; i < sight->status.process_count; i++) {
        const struct pool_process *process = &sight->status.processes[i];

        if (pool_process_is_worker(process))
            data->workers[data->worker_count++] = (struct top_worker){label, process};
    }
}

static bool arrange_workers(struct top_data *data, struct error *err)
{
    size_t count = 0, busy;

    for (size_t i = 0; i < data->pool_count; i++)
        count += pool_sight_workers(&data->pools[i], &busy);
    data->workers = arena_alloc(&data->arena, (count + 1) * sizeof *data->workers);
    if (!data->workers)
        return error_no_memory(err);
    for (size_t i = 0; i < data->pool_count; i++) {
        if (!data->pools[i].silent)
            add_workers(data, &data->pools[i]);
    }
    return !data->arena.failed || error_no_memory(err);
}

static bool arrange_queues(struct top_data *data, struct error *err)
{
    const struct queue_stats_list *stats = &data->stats;

    data->queues = arena_alloc(&data->arena, (stats->count + 1) * sizeof *data->queues);
    if (!data->queues)
        return error_no_memory(err);
    for (size_t i = 0; i < stats->count; i++)
        data->queues[i] = (struct top_queue){&stats->items[i], TOP_RATE_UNKNOWN, TOP_RATE_UNKNOWN};
    data->queue_count = stats->count;
    return true;
}

static void count_all(struct top_data *data)
{
    struct top_totals totals = {.done_rate = TOP_RATE_UNKNOWN, .failed_rate = TOP_RATE_UNKNOWN};

    for (size_t i = 0; i < data->queue_count; i++) {
        for (int state = 0; state < JOB_STATES; state++)
            totals.jobs[state] += data->queues[i].stats->jobs[state];
        totals.no_handler += data->queues[i].stats->no_handler;
        totals.cannot_start += data->queues[i].stats->cannot_start;
    }
    for (size_t i = 0; i < data->worker_count; i++)
        totals.busy += pool_process_is_busy(data->workers[i].process);
    totals.workers = data->worker_count;
    data->totals = totals;
}

static bool read_all(struct store *store, struct top_data *data, struct error *err)
{
    data->seen_at = clock_boot();
    data->now = store_now(store);
    return store_stats(store, &data->stats, err) && store_pools(store, &data->pool_list, err) &&
           store_failures(store, FAILURES_SHOWN, &data->failures, err) &&
           top_data_arrange(data, err);
}

bool top_data_read(struct store *store, struct top_data *data_out, struct error *err)
{
    struct top_data data = {0};

    if (!read_all(store, &data, err)) {
        top_data_done(&data);
        return false;
    }
    *data_out = data;
    return true;
}

bool top_data_arrange(struct top_data *data, struct error *err)
{
    if (!pool_sight_all(&data->pool_list, data->now, &data->arena, &data->pools, err))
        return false;
    data->pool_count = data->pool_list.count;
    if (!arrange_workers(data, err) || !arrange_queues(data, err))
        return false;
    count_all(data);
    return true;
}

static const struct queue_stats *find_stats(const struct top_data *data, const char *queue)
{
    static const struct queue_stats nothing = {0};

    for (size_t i = 0; i < data->stats.count; i++) {
        if (text_equal(data->stats.items[i].queue, queue))
            return &data->stats.items[i];
    }
    return &nothing;
}

static double rate_of(int64_t before, int64_t after, usec_t elapsed)
{
    return after < before ? TOP_RATE_UNKNOWN
                          : (double)(after - before) * USEC_PER_SEC / (double)elapsed;
}

/* What is not known adds nothing, but something known makes the sum known. */
static void add_rate(double *sum, double rate)
{
    if (rate >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + rate;
}

void top_data_compare(struct top_data *data, const struct top_data *before)
{
    usec_t elapsed = data->seen_at - before->seen_at;

    if (before->seen_at == 0 || elapsed <= 0)
        return;
    for (size_t i = 0; i < data->queue_count; i++) {
        struct top_queue *queue = &data->queues[i];
        const struct queue_stats *then = find_stats(before, queue->stats->queue);

        queue->done_rate = rate_of(then->done_total, queue->stats->done_total, elapsed);
        queue->failed_rate = rate_of(then->failed_total, queue->stats->failed_total, elapsed);
        add_rate(&data->totals.done_rate, queue->done_rate);
        add_rate(&data->totals.failed_rate, queue->failed_rate);
    }
}

void top_data_done(struct top_data *data)
{
    job_list_done(&data->failures);
    queue_stats_list_done(&data->stats);
    pool_list_done(&data->pool_list);
    arena_done(&data->arena);
    *data = (struct top_data){0};
}
