/*
 * reap.c - one pass of the reaper: expired leases, silent pools, retention.
 *
 * Everything here may be done by several pools at once, and is done by whoever comes first. A pass
 * is a bounded number of batches, each a transaction of its own, so that neither the other writers
 * nor the master's orders wait for it.
 */
#include "periodic/reap.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"

#define BATCH   1000 /* jobs in one transaction */
#define BATCHES 20   /* transactions in one pass */

struct reaping {
    struct store *store;
    const struct config *config;
    int batches;       /* so far */
    bool has_left_any; /* the pass was over before the work was */
};

/* Batch after batch, as long as they come full. */
static bool repeat(struct reaping *reaping,
                   bool (*run)(const struct reaping *reaping, size_t *count_out, struct error *err),
                   size_t *total_out, struct error *err)
{
    size_t count = BATCH;

    *total_out = 0;
    for (; count == BATCH && reaping->batches < BATCHES; reaping->batches++) {
        if (!run(reaping, &count, err))
            return false;
        *total_out += count;
    }
    reaping->has_left_any = reaping->has_left_any || count == BATCH;
    return true;
}

static bool reclaim_batch(const struct reaping *reaping, size_t *count_out, struct error *err)
{
    return store_reclaim(reaping->store, store_now(reaping->store), BATCH, count_out, err);
}

static bool reclaim(struct reaping *reaping, struct error *err)
{
    size_t total;
    const bool done = repeat(reaping, reclaim_batch, &total, err);

    if (total > 0)
        log_warning("job_stalled", "count=%zu", total);
    return done || error_prefix(err, "take back expired leases");
}

static bool remove_silent_pools(struct reaping *reaping, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list removed = {0};
    const usec_t now = store_now(reaping->store);
    const usec_t before = now - reaping->config->pool.stale_threshold;

    if (!store_pool_remove_silent(reaping->store, before, &removed, err))
        return error_prefix(err, "remove silent pools");
    for (size_t i = 0; i < removed.count; i++) {
        const struct pool *pool = &removed.items[i];

        log_warning("pool_removed", "name=%s host=%s silent_ms=%" PRId64, pool->name, pool->host,
                    (now - pool->beat_at) / USEC_PER_MSEC);
    }
    return true;
}

static bool prune_batch(const struct reaping *reaping, size_t *count_out, struct error *err)
{
    const struct retention keep = reap_retention(&reaping->config->retention);

    return store_prune(reaping->store, &keep, store_now(reaping->store), BATCH, count_out, err);
}

static bool prune(struct reaping *reaping, struct error *err)
{
    size_t total;

    return repeat(reaping, prune_batch, &total, err) ||
           error_prefix(err, "remove jobs past their retention");
}

bool reap_pass(struct store *store, const struct config *config, usec_t *next_out,
               struct error *err)
{
    struct reaping reaping = {.store = store, .config = config};

    if (!reclaim(&reaping, err) || !remove_silent_pools(&reaping, err) || !prune(&reaping, err))
        return false;
    *next_out = clock_boot() + (reaping.has_left_any ? 0 : config->pool.reaper_interval);
    return true;
}

struct retention reap_retention(const struct retention_config *config)
{
    return (struct retention){
        .done = config->done,
        .done_max = (size_t)config->done_max,
        .dead = config->dead,
    };
}
