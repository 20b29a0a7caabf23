/*
 * queue_json.c - the numbers of queues as JSON: what `thctl --json` and the HTTP API say of them.
 */
#include "client/queue_json.h"

#include "base/json_writer.h"

usec_t queue_json_oldest_age(const struct queue_stats *stats, usec_t now)
{
    if (stats->oldest_ready == 0)
        return -1;
    return now > stats->oldest_ready ? now - stats->oldest_ready : 0;
}

int64_t queue_json_count_waiting(const struct queue_stats *stats)
{
    int64_t count = 0;

    for (int state = 0; state < JOB_STATES; state++) {
        if (job_state_is_waiting((enum job_state)state))
            count += stats->jobs[state];
    }
    return count;
}

static void add_age(struct json_writer *json, const struct queue_stats *stats, usec_t now)
{
    const usec_t age = queue_json_oldest_age(stats, now);

    if (age < 0)
        json_write_null(json, "oldest_ready_ms");
    else
        json_write_int(json, "oldest_ready_ms", age / USEC_PER_MSEC);
}

void queue_json_add_counts(struct json_writer *json, const struct queue_stats *stats, usec_t now)
{
    for (int state = 0; state < JOB_STATES; state++)
        json_write_int(json, job_state_name((enum job_state)state), stats->jobs[state]);
    json_write_int(json, "no_handler", stats->no_handler);
    json_write_int(json, "cannot_start", stats->cannot_start);
    add_age(json, stats, now);
    json_write_int(json, "done_total", stats->done_total);
    json_write_int(json, "failed_total", stats->failed_total);
}

void queue_json_add_stats(struct json_writer *json, const struct queue_stats *stats, usec_t now)
{
    json_write_text(json, "queue", stats->queue);
    json_write_bool(json, "paused", stats->paused_at != 0);
    queue_json_add_counts(json, stats, now);
}

void queue_json_add_queue(struct json_writer *json, const struct queue_stats *stats, usec_t now)
{
    json_write_text(json, "queue", stats->queue);
    json_write_bool(json, "paused", stats->paused_at != 0);
    json_write_time(json, "paused_at", stats->paused_at);
    json_write_int(json, "waiting", queue_json_count_waiting(stats));
    json_write_int(json, "running", stats->jobs[JOB_RUNNING]);
    add_age(json, stats, now);
    json_write_text(json, "paused_by", stats->paused_by);
}

static void add_up(struct queue_stats *sum, const struct queue_stats *stats)
{
    for (int state = 0; state < JOB_STATES; state++)
        sum->jobs[state] += stats->jobs[state];
    sum->no_handler += stats->no_handler;
    sum->cannot_start += stats->cannot_start;
    sum->done_total += stats->done_total;
    sum->failed_total += stats->failed_total;
    if (sum->oldest_ready == 0 ||
        (stats->oldest_ready != 0 && stats->oldest_ready < sum->oldest_ready))
        sum->oldest_ready = stats->oldest_ready;
}

void queue_json_add_totals(struct json_writer *json, const struct queue_stats_list *list,
                           usec_t now)
{
    struct queue_stats sum = {0};

    for (size_t i = 0; i < list->count; i++)
        add_up(&sum, &list->items[i]);
    queue_json_add_counts(json, &sum, now);
}
