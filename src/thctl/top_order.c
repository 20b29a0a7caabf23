/*
 * top_order.c - in which order the rows of each section of `thctl top` stand.
 */
#include "thctl/top_order.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Absent text comes first, and worker 10 after worker 9. */
static int by_text(const char *a, const char *b)
{
    return strverscmp(a ? a : "", b ? b : "");
}

static int falling(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int falling_rate(double a, double b)
{
    return (a < b) - (a > b);
}

/* Moments, the earliest first; one that is not known is the last. */
static int rising_moment(usec_t a, usec_t b)
{
    return falling(a != 0 ? -a : INT64_MIN, b != 0 ? -b : INT64_MIN);
}

static int first_of(int first, int second)
{
    return first != 0 ? first : second;
}

/* ---- pools ---- */

static int pools_by_name(const void *a, const void *b)
{
    const struct pool_sight *x = a, *y = b;

    return by_text(x->pool->name, y->pool->name);
}

static int pools_by_busy(const void *a, const void *b)
{
    size_t busy_a, busy_b;

    pool_sight_workers(a, &busy_a);
    pool_sight_workers(b, &busy_b);
    return first_of(falling((int64_t)busy_a, (int64_t)busy_b), pools_by_name(a, b));
}

static int pools_by_beat(const void *a, const void *b)
{
    const struct pool_sight *x = a, *y = b;

    return first_of(rising_moment(x->pool->beat_at, y->pool->beat_at), pools_by_name(a, b));
}

/* ---- workers ---- */

static int workers_by_name(const void *a, const void *b)
{
    const struct top_worker *x = a, *y = b;

    return first_of(by_text(x->pool, y->pool), by_text(x->process->name, y->process->name));
}

/* Those who run something, the longest run first. */
static int workers_by_run(const void *a, const void *b)
{
    const struct top_worker *x = a, *y = b;
    bool busy = pool_process_is_busy(x->process);
    int order = falling(busy, pool_process_is_busy(y->process));

    if (order == 0 && busy)
        order = rising_moment(x->process->since, y->process->since);
    return first_of(order, workers_by_name(a, b));
}

static int workers_by_type(const void *a, const void *b)
{
    const struct top_worker *x = a, *y = b;
    int order = falling(pool_process_is_busy(x->process), pool_process_is_busy(y->process));

    return first_of(first_of(order, by_text(x->process->type, y->process->type)),
                    workers_by_name(a, b));
}

/* ---- queues ---- */

static int queues_by_name(const void *a, const void *b)
{
    const struct top_queue *x = a, *y = b;

    return by_text(x->stats->queue, y->stats->queue);
}

static int queues_by_state(const void *a, const void *b, enum job_state state)
{
    const struct top_queue *x = a, *y = b;

    return first_of(falling(x->stats->jobs[state], y->stats->jobs[state]), queues_by_name(a, b));
}

static int queues_by_ready(const void *a, const void *b)
{
    return queues_by_state(a, b, JOB_READY);
}

static int queues_by_running(const void *a, const void *b)
{
    return queues_by_state(a, b, JOB_RUNNING);
}

static int queues_by_dead(const void *a, const void *b)
{
    return queues_by_state(a, b, JOB_DEAD);
}

static int queues_by_age(const void *a, const void *b)
{
    const struct top_queue *x = a, *y = b;

    return first_of(rising_moment(x->stats->oldest_ready, y->stats->oldest_ready),
                    queues_by_name(a, b));
}

static int queues_by_rate(const void *a, const void *b)
{
    const struct top_queue *x = a, *y = b;

    return first_of(falling_rate(x->done_rate, y->done_rate), queues_by_name(a, b));
}

static int queues_by_failures(const void *a, const void *b)
{
    const struct top_queue *x = a, *y = b;

    return first_of(falling_rate(x->failed_rate, y->failed_rate), queues_by_name(a, b));
}

/* ---- the table ---- */

struct order {
    const char *name;
    int (*compare)(const void *a, const void *b); /* NULL: as the store answered */
};

static const struct order pool_orders[] = {
    {"POOL", pools_by_name},
    {"WORKERS", pools_by_busy},
    {"LAST-BEAT", pools_by_beat},
};

static const struct order worker_orders[] = {
    {"FOR", workers_by_run},
    {"WORKER", workers_by_name},
    {"TYPE", workers_by_type},
};

static const struct order queue_orders[] = {
    {"READY", queues_by_ready},       {"QUEUE", queues_by_name}, {"RUNNING", queues_by_running},
    {"DEAD", queues_by_dead},         {"OLDEST", queues_by_age}, {"DONE/S", queues_by_rate},
    {"FAILED/S", queues_by_failures},
};

static const struct order failure_orders[] = {{"FAILED", NULL}};

static const struct {
    const char *name;
    const struct order *orders;
    size_t count;
} sections[] = {
    [TOP_POOLS] = {"pools", pool_orders, COUNT_OF(pool_orders)},
    [TOP_WORKERS] = {"workers", worker_orders, COUNT_OF(worker_orders)},
    [TOP_QUEUES] = {"queues", queue_orders, COUNT_OF(queue_orders)},
    [TOP_FAILURES] = {"failures", failure_orders, COUNT_OF(failure_orders)},
};

const char *top_section_name(enum top_section section)
{
    return sections[section].name;
}

size_t top_order_count(enum top_section section)
{
    return sections[section].count;
}

const char *top_order_name(enum top_section section, size_t order)
{
    assert(order < sections[section].count);
    return sections[section].orders[order].name;
}

/* The array may be NULL when there is nothing in it. */
static void sort(void *items, size_t count, size_t size, const struct order *order)
{
    if (count > 1 && order->compare)
        qsort(items, count, size, order->compare);
}

void top_order_sort(struct top_data *data, enum top_section section, size_t order)
{
    assert(order < sections[section].count);
    const struct order *chosen = &sections[section].orders[order];

    switch (section) {
    case TOP_POOLS:
        sort(data->pools, data->pool_count, sizeof *data->pools, chosen);
        return;
    case TOP_WORKERS:
        sort(data->workers, data->worker_count, sizeof *data->workers, chosen);
        return;
    case TOP_QUEUES:
        sort(data->queues, data->queue_count, sizeof *data->queues, chosen);
        return;
    case TOP_FAILURES:
    case TOP_SECTIONS:
        return;
    }
}
