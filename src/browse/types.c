/*
 * types.c - how the runs of each type went lately, in all pools.
 *
 *     {"types":[{"type":"email:send","done":17,"failed":1,"done_per_minute":1.133,
 *         "failed_per_minute":0.067,"run_ms":{"p50":1.25,"p95":3.0,"p99":7.5},
 *         "wait_ms":{...},"pools":["web-1.0a1b2c3d"]}, ...]}
 *
 * Each pool tells it with its heartbeat: rates are added, and so are histograms, bucket by bucket.
 * A type that only a handler's pattern names has not run lately.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "browse/looks.h"
#include "client/pool_recent.h"
#include "client/pool_status.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MIN USEC_PER_MIN /* a pool that has just started has not run at that rate yet */

struct live_pool {
    const struct pool *pool;
    struct pool_status status;
    struct pool_recent recent;
    double minutes; /* that `recent` tells of */
};

/* One type of one pool; or of none, because only a pattern names it. */
struct mention {
    const char *type;
    const struct live_pool *pool;
    const struct pool_recent_type *recent; /* NULL: it has not run there */
};

struct sum {
    struct pool_recent_type all;
    double done_per_minute, failed_per_minute;
};

/* ---- reading ---- */

/* A pool tells of a quarter of an hour, or of as long as it lives. */
static double minutes_of(const struct pool *pool, usec_t since)
{
    const usec_t from = pool->started_at > since ? pool->started_at : since;
    const usec_t span = pool->beat_at - from;

    return (double)(span > SPAN_MIN ? span : SPAN_MIN) / (double)USEC_PER_MIN;
}

static size_t read_pools(const struct pool_list *list, usec_t now, struct arena *arena,
                         struct live_pool *pools)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct pool *pool = &list->items[i];
        struct live_pool *live = &pools[count];

        *live = (struct live_pool){.pool = pool, .status = pool_status_read(pool->status, arena)};
        if (pool_status_is_silent(&live->status, pool->beat_at, now))
            continue;
        live->recent = pool_recent_read(&live->status, arena);
        live->minutes = minutes_of(pool, live->recent.since);
        count++;
    }
    return count;
}

static bool is_type(const char *pattern)
{
    return pattern && !strchr(pattern, '*');
}

static size_t count_mentions(const struct live_pool *pools, size_t count)
{
    size_t mentions = 0;

    for (size_t i = 0; i < count; i++)
        mentions += pools[i].recent.count + pools[i].status.handler_count;
    return mentions;
}

static size_t list_mentions(const struct live_pool *pools, size_t count, struct mention *mentions)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct live_pool *pool = &pools[i];

        for (size_t k = 0; k < pool->recent.count; k++)
            mentions[n++] =
                (struct mention){pool->recent.types[k].type, pool, &pool->recent.types[k]};
        for (size_t k = 0; k < pool->status.handler_count; k++) {
            if (is_type(pool->status.handlers[k].pattern))
                mentions[n++] = (struct mention){pool->status.handlers[k].pattern, pool, NULL};
        }
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct mention *)a)->type, ((const struct mention *)b)->type);
}

static void add(struct sum *sum, const struct mention *mention)
{
    const struct pool_recent_type *recent = mention->recent;

    if (!recent)
        return;
    sum->all.done += recent->done;
    sum->all.failed += recent->failed;
    sum->done_per_minute += (double)recent->done / mention->pool->minutes;
    sum->failed_per_minute += (double)recent->failed / mention->pool->minutes;
    log_histogram_merge(&sum->all.run, &recent->run);
    log_histogram_merge(&sum->all.wait, &recent->wait);
}

/* ---- the page ---- */

static void write_decimal(struct json_writer *json, const char *name, double number)
{
    char text[64];

    snprintf(text, sizeof text, "%.3f", number);
    json_write_raw(json, name, (struct bytes){(const unsigned char *)text, strlen(text)});
}

static void write_percentiles(struct json_writer *json, const char *name,
                              const struct log_histogram *histogram)
{
    static const struct {
        const char *name;
        double share;
    } percentiles[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};

    json_write_open(json, name, '{');
    for (size_t i = 0; i < COUNT_OF(percentiles); i++) {
        const usec_t value = log_histogram_percentile(histogram, percentiles[i].share);

        if (value < 0)
            json_write_null(json, percentiles[i].name);
        else
            write_decimal(json, percentiles[i].name, (double)value / (double)USEC_PER_MSEC);
    }
    json_write_close(json, '}');
}

static void write_pools(struct json_writer *json, const char *type, const struct live_pool *pools,
                        size_t count)
{
    json_write_open(json, "pools", '[');
    for (size_t i = 0; i < count; i++) {
        if (pool_status_handler(&pools[i].status, type))
            json_write_text(json, NULL, pools[i].pool->name);
    }
    json_write_close(json, ']');
}

static void write_type(struct json_writer *json, const char *type, const struct sum *sum,
                       const struct live_pool *pools, size_t count)
{
    json_write_open(json, NULL, '{');
    json_write_text(json, "type", type);
    json_write_int(json, "done", (int64_t)sum->all.done);
    json_write_int(json, "failed", (int64_t)sum->all.failed);
    write_decimal(json, "done_per_minute", sum->done_per_minute);
    write_decimal(json, "failed_per_minute", sum->failed_per_minute);
    write_percentiles(json, "run_ms", &sum->all.run);
    write_percentiles(json, "wait_ms", &sum->all.wait);
    write_pools(json, type, pools, count);
    json_write_close(json, '}');
}

static void write_types(struct json_writer *json, const struct mention *mentions, size_t n,
                        const struct live_pool *pools, size_t count)
{
    for (size_t i = 0; i < n;) {
        const char *type = mentions[i].type;
        struct sum sum = {.done_per_minute = 0};

        for (; i < n && text_equal(mentions[i].type, type); i++)
            add(&sum, &mentions[i]);
        write_type(json, type, &sum, pools, count);
    }
}

bool look_at_types(struct look *look, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list list = {0};
    struct json_writer json = {.out = look->body};

    if (!unpack_end(&look->wish, "a look at the types", err) ||
        !store_pools(look->store, &list, err))
        return false;
    struct live_pool *pools = arena_alloc(look->arena, (list.count + 1) * sizeof *pools);
    if (!pools)
        return error_no_memory(err);
    const size_t count = read_pools(&list, store_now(look->store), look->arena, pools);
    struct mention *mentions =
        arena_alloc(look->arena, (count_mentions(pools, count) + 1) * sizeof *mentions);
    if (look->arena->failed)
        return error_no_memory(err);
    const size_t n = list_mentions(pools, count, mentions);

    qsort(mentions, n, sizeof *mentions, compare);
    json_write_open(&json, NULL, '{');
    json_write_open(&json, "types", '[');
    write_types(&json, mentions, n, pools, count);
    json_write_close(&json, ']');
    json_write_close(&json, '}');
    return true;
}
