/*
 * gauges.c - how the queues are, as Prometheus reads it.
 *
 * There may be any number of queues: those after the first 200, by name, are added up as "other".
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/metric_text.h"
#include "base/text.h"
#include "browse/looks.h"
#include "job/state.h"
#include "store/store.h"

#define QUEUES_MAX 200

static void add(struct queue_stats *sum, const struct queue_stats *queue)
{
    for (size_t i = 0; i < JOB_STATES; i++)
        sum->jobs[i] += queue->jobs[i];
    if (queue->oldest_ready != 0 &&
        (sum->oldest_ready == 0 || queue->oldest_ready < sum->oldest_ready))
        sum->oldest_ready = queue->oldest_ready;
    if (queue->paused_at != 0)
        sum->paused_at = queue->paused_at;
}

/* How many are left. A queue that is called so itself is one of the others. */
static size_t fold(struct queue_stats_list *list)
{
    struct queue_stats other = {.queue = "other"};
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (kept < QUEUES_MAX && !text_equal(list->items[i].queue, other.queue))
            list->items[kept++] = list->items[i];
        else
            add(&other, &list->items[i]);
    }
    if (kept < list->count)
        list->items[kept++] = other;
    return kept;
}

static void write_jobs(const struct queue_stats *queues, size_t count, struct buffer *out)
{
    metric_text_head(out, "taskharbor_queue_jobs", "gauge",
                     "Jobs in the store, by queue and state; done ones as long as they are kept.");
    for (size_t i = 0; i < count; i++) {
        for (enum job_state k = 0; k < JOB_STATES; k++) {
            const struct metric_label labels[] = {{"queue", queues[i].queue},
                                                  {"state", job_state_name(k)}};

            metric_text_count(out, "taskharbor_queue_jobs", labels, 2, (uint64_t)queues[i].jobs[k]);
        }
    }
}

static void write_ages(const struct queue_stats *queues, size_t count, usec_t now,
                       struct buffer *out)
{
    metric_text_head(out, "taskharbor_queue_oldest_seconds", "gauge",
                     "How long the oldest ready job has been due; 0 without one.");
    for (size_t i = 0; i < count; i++) {
        const struct metric_label labels[] = {{"queue", queues[i].queue}};
        const usec_t oldest = queues[i].oldest_ready;

        metric_text_seconds(out, "taskharbor_queue_oldest_seconds", labels, 1,
                            oldest != 0 ? now - oldest : 0);
    }
}

static void write_pauses(const struct queue_stats *queues, size_t count, struct buffer *out)
{
    metric_text_head(out, "taskharbor_queue_paused", "gauge", "1 while the queue is paused.");
    for (size_t i = 0; i < count; i++) {
        const struct metric_label labels[] = {{"queue", queues[i].queue}};

        metric_text_count(out, "taskharbor_queue_paused", labels, 1, queues[i].paused_at != 0);
    }
}

bool look_at_gauges(struct look *look, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};

    if (!unpack_end(&look->wish, "a look at the gauges", err) ||
        !store_stats(look->store, &list, err))
        return false;
    const size_t count = fold(&list);

    write_jobs(list.items, count, look->body);
    write_ages(list.items, count, store_now(look->store), look->body);
    write_pauses(list.items, count, look->body);
    return true;
}
