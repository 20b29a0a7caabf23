/*
 * reap.c - one pass of the reaper: expired leases, silent pools, jobs that nobody could run for too
 * long, retention.
 *
 * Everything here may be done by several pools at once, and is done by whoever comes first. A pass
 * goes on for a bounded time, in batches, so that neither the other writers nor the master's orders
 * wait for it. If it has left something, the next pass comes at once; and while much has to be
 * removed it comes soon, so that what is kept stays close to what retention says.
 */
#include "periodic/reap.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "job/aside.h"
#include "job/remote_pool.h"
#include "periodic/gone_handler.h"

#define RECLAIM_BATCH 1000 /* jobs in one call */
#define GIVE_UP_BATCH 500
#define LOOK_AGAIN    1000
#define PRUNE_BATCH   5000 /* each call costs something of its own, so not too few */
#define SHARE         20   /* of done_max: as many as may end between two passes */
#define PAUSE_MIN     (100 * USEC_PER_MSEC)

struct reaping {
    struct store *store;
    const struct config *config;
    const char *pool;
    usec_t until;      /* on clock_boot(): no batch begins after it */
    bool has_left_any; /* the pass was over before the work was */
    size_t pruned;
};

/* One batch of at most `limit`. */
typedef bool batch_run(const struct reaping *reaping, size_t limit, size_t *count_out,
                       struct error *err);

/* Batch after batch, as long as they come full; one at least. */
static bool repeat(struct reaping *reaping, batch_run *run, size_t limit, size_t *total_out,
                   struct error *err)
{
    size_t count;

    *total_out = 0;
    do {
        if (!run(reaping, limit, &count, err))
            return false;
        *total_out += count;
    } while (count >= limit && clock_boot() < reaping->until);
    reaping->has_left_any = reaping->has_left_any || count >= limit;
    return true;
}

static bool reclaim_batch(const struct reaping *reaping, size_t limit, size_t *count_out,
                          struct error *err)
{
    return store_reclaim(reaping->store, store_now(reaping->store), limit, count_out, err);
}

static bool reclaim(struct reaping *reaping, struct error *err)
{
    size_t total;
    const bool done = repeat(reaping, reclaim_batch, RECLAIM_BATCH, &total, err);

    if (total > 0)
        log_warning("job_stalled", "count=%zu", total);
    return done || error_prefix(err, "take back expired leases");
}

/* By a clock that was set forward just now all others are silent, until they beat by it too. */
static bool is_clock_new(const struct reaping *reaping)
{
    const struct timekeeper *clock = store_clock(reaping->store);

    return clock->until != 0 && clock_boot() < clock->until + reaping->config->pool.stale_threshold;
}

static bool remove_silent_pools(struct reaping *reaping, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list removed = {0};
    const usec_t now = store_now(reaping->store);
    const usec_t before = now - reaping->config->pool.stale_threshold;

    if (is_clock_new(reaping))
        return true;
    if (!store_pool_remove_silent(reaping->store, before, &removed, err))
        return error_prefix(err, "remove silent pools");
    for (size_t i = 0; i < removed.count; i++) {
        const struct pool *pool = &removed.items[i];

        if (remote_pool_is(pool->name))
            continue;
        log_warning("pool_removed", "name=%s host=%s silent_ms=%" PRId64, pool->name, pool->host,
                    (now - pool->beat_at) / USEC_PER_MSEC);
    }
    return true;
}

/* Of one type. Where a handler is known a pool has given its jobs up before: job/aside.h. */
static bool give_up_type(struct reaping *reaping, const struct aside_type *type, struct error *err)
{
    const usec_t now = store_now(reaping->store);
    const usec_t before = aside_cutoff_of_strangers(type->why, now);
    size_t ended, total = 0;

    if (type->since > before)
        return true;
    do {
        if (!store_give_up(reaping->store, type, before, now, GIVE_UP_BATCH, &ended, err))
            return error_prefix(err, "give up what nobody could run");
        total += ended;
    } while (ended == GIVE_UP_BATCH && clock_boot() < reaping->until);
    reaping->has_left_any = reaping->has_left_any || ended == GIVE_UP_BATCH;
    if (total > 0)
        log_warning("job_dead", "queue=%s type=%s count=%zu reason=%s error=%s", type->queue,
                    type->type, total, aside_name(type->why), aside_epitaph(type->why));
    return true;
}

static bool look_aside(struct reaping *reaping, struct error *err)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    bool left_any;

    if (!store_aside(reaping->store, NULL, 0, &types, err))
        return error_prefix(err, "look for what nobody could run");
    for (size_t i = 0; i < types.count; i++)
        if (!give_up_type(reaping, &types.items[i], err))
            return false;
    if (!gone_handler_bring_back(reaping->store, reaping->config, reaping->pool, &types, LOOK_AGAIN,
                                 &left_any, err))
        return false;
    reaping->has_left_any = reaping->has_left_any || left_any;
    return true;
}

static bool prune_batch(const struct reaping *reaping, size_t limit, size_t *count_out,
                        struct error *err)
{
    const struct retention keep = reap_retention(&reaping->config->retention);

    return store_prune(reaping->store, &keep, store_now(reaping->store), limit, count_out, err);
}

static bool prune(struct reaping *reaping, struct error *err)
{
    return repeat(reaping, prune_batch, PRUNE_BATCH, &reaping->pruned, err) ||
           error_prefix(err, "remove jobs past their retention");
}

bool reap_pass(struct store *store, const struct config *config, const char *pool,
               struct reap_rhythm *rhythm, usec_t *next_out, struct error *err)
{
    struct reaping reaping = {
        .store = store, .config = config, .pool = pool, .until = clock_boot() + rhythm->pass_time};

    if (!reclaim(&reaping, err) || !remove_silent_pools(&reaping, err) ||
        !look_aside(&reaping, err) || !prune(&reaping, err))
        return false;
    /* From end to end: what this pass removed ended after the last one was over. */
    const usec_t end = clock_boot();
    const usec_t since_last = rhythm->last_at == 0 ? 0 : end - rhythm->last_at;
    const usec_t pause = reap_pause(reaping.pruned, since_last, (size_t)config->retention.done_max,
                                    config->pool.reaper_interval);
    *next_out = end + (reaping.has_left_any ? 0 : pause);
    rhythm->last_at = end;
    return true;
}

usec_t reap_pause(size_t pruned, usec_t since_last, size_t done_max, usec_t interval)
{
    const double share = (double)done_max / SHARE;
    double pause;

    if (pruned == 0)
        return interval;
    pause = (double)since_last * share / (double)pruned;
    if (pause >= (double)interval)
        return interval;
    return pause > (double)PAUSE_MIN ? (usec_t)pause : PAUSE_MIN;
}

bool reap_is_wanted(int64_t ended, size_t done_max)
{
    return ended > 0 && (size_t)ended > done_max / SHARE;
}

struct retention reap_retention(const struct retention_config *config)
{
    return (struct retention){
        .done = config->done,
        .done_max = (size_t)config->done_max,
        .dead = config->dead,
    };
}
