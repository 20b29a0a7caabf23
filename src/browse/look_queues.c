/*
 * look_queues.c - what is in the queues, and who serves them.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "browse/looks.h"
#include "browse/pace.h"
#include "client/pool_status.h"
#include "client/queue_json.h"
#include "store/store.h"

#include <stdio.h>

/* All that is looked at for one page. */
struct view {
    struct look *look;
    struct queue_stats_list stats;
    struct pool_list pools;
    struct pool_status *statuses; /* of the pools, in the look's arena */
    usec_t now;
    usec_t boot;
};

static void view_done(struct view *view)
{
    queue_stats_list_done(&view->stats);
    pool_list_done(&view->pools);
}

static bool read_nothing(struct look *look, struct error *err)
{
    return unpack_end(&look->wish, "a look at the queues", err);
}

/* ---- GET /api/stats ---- */

static void write_stats(struct json_writer *json, const struct queue_stats_list *list, usec_t now)
{
    json_write_open(json, NULL, '{');
    json_write_time(json, "at", now);
    json_write_open(json, "queues", '[');
    for (size_t i = 0; i < list->count; i++) {
        json_write_open(json, NULL, '{');
        queue_json_add_stats(json, &list->items[i], now);
        json_write_close(json, '}');
    }
    json_write_close(json, ']');
    json_write_open(json, "totals", '{');
    queue_json_add_totals(json, list, now);
    json_write_close(json, '}');
    json_write_close(json, '}');
}

bool look_stats(struct look *look, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};
    struct json_writer json = {.out = look->body};

    if (!read_nothing(look, err) || !store_stats(look->store, &list, err))
        return false;
    write_stats(&json, &list, store_now(look->store));
    pace_note(look->pace, &list, clock_boot());
    return true;
}

/* ---- GET /api/queues ---- */

/* "1.250" of 1250. */
static void write_rate(struct json_writer *json, const char *name, const int64_t *milli)
{
    char text[32];

    if (!milli) {
        json_write_null(json, name);
        return;
    }
    const int length =
        snprintf(text, sizeof text, "%" PRId64 ".%03" PRId64, *milli / 1000, *milli % 1000);

    json_write_raw(json, name, (struct bytes){(const unsigned char *)text, (size_t)length});
}

static void write_rates(struct json_writer *json, const struct view *view,
                        const struct queue_stats *stats)
{
    struct pace_rates rates;
    const bool is_known = pace_of(view->look->pace, stats, view->boot, &rates);

    write_rate(json, "done_per_second", is_known ? &rates.done : NULL);
    write_rate(json, "failed_per_second", is_known ? &rates.failed : NULL);
}

static void write_server(struct json_writer *json, const char *pool, const struct pool_queue *queue)
{
    json_write_open(json, NULL, '{');
    json_write_text(json, "pool", pool);
    json_write_int(json, "weight", queue->weight);
    if (queue->max_running > 0)
        json_write_int(json, "max_running", queue->max_running);
    else
        json_write_null(json, "max_running");
    json_write_text(json, "rate", queue->rate);
    json_write_close(json, '}');
}

/* Those who are alive; each keeps the limits of its own config. */
static void write_servers(struct json_writer *json, const struct view *view, const char *name)
{
    json_write_open(json, "served_by", '[');
    for (size_t i = 0; i < view->pools.count; i++) {
        const struct pool *pool = &view->pools.items[i];
        const struct pool_status *status = &view->statuses[i];

        if (pool_status_is_silent(status, pool->beat_at, view->now))
            continue;
        for (size_t k = 0; k < status->queue_count; k++) {
            if (text_equal(status->queues[k].name, name))
                write_server(json, pool->name, &status->queues[k]);
        }
    }
    json_write_close(json, ']');
}

static void write_queue(struct json_writer *json, const struct view *view,
                        const struct queue_stats *stats)
{
    json_write_open(json, NULL, '{');
    json_write_text(json, "queue", stats->queue);
    json_write_bool(json, "paused", stats->paused_at != 0);
    json_write_time(json, "paused_at", stats->paused_at);
    json_write_text(json, "paused_by", stats->paused_by);
    json_write_int(json, "waiting", queue_json_count_waiting(stats));
    queue_json_add_counts(json, stats, view->now);
    write_rates(json, view, stats);
    write_servers(json, view, stats->queue);
    json_write_close(json, '}');
}

static bool open_view(struct view *view, struct error *err)
{
    struct look *look = view->look;

    if (!store_stats(look->store, &view->stats, err) ||
        !store_pools(look->store, &view->pools, err))
        return false;
    view->statuses = arena_alloc(look->arena, (view->pools.count + 1) * sizeof *view->statuses);
    for (size_t i = 0; view->statuses && i < view->pools.count; i++)
        view->statuses[i] = pool_status_read(view->pools.items[i].status, look->arena);
    view->now = store_now(look->store);
    view->boot = clock_boot();
    return !look->arena->failed || error_no_memory(err);
}

bool look_queues(struct look *look, struct error *err)
{
    CLEANUP(view_done) struct view view = {.look = look};
    struct json_writer json = {.out = look->body};

    if (!read_nothing(look, err) || !open_view(&view, err))
        return false;
    json_write_open(&json, NULL, '{');
    json_write_open(&json, "queues", '[');
    for (size_t i = 0; i < view.stats.count; i++)
        write_queue(&json, &view, &view.stats.items[i]);
    json_write_close(&json, ']');
    json_write_close(&json, '}');
    pace_note(look->pace, &view.stats, view.boot);
    return true;
}
