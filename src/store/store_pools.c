/*
 * store_pools.c - the pools that work on a store: they come, say that they live, are told what
 * somebody wants of them, and go.
 */
#include "store/store_pools.h"

#include "store/checks.h"
#include "store/driver.h"

enum pool_want pool_want_of(int64_t number)
{
    return number >= 0 && number < POOL_WANTS ? (enum pool_want)number : POOL_WANT_NOTHING;
}

static bool check_heartbeat(const struct heartbeat *heartbeat, struct error *err)
{
    if (!checks_pool(heartbeat->pool, err) || !checks_lease(heartbeat->lease_for, err))
        return false;
    for (size_t i = 0; i < heartbeat->lease_count; i++) {
        const struct lease_beat *lease = &heartbeat->leases[i];

        if (lease->lease_for != 0 && !checks_lease(lease->lease_for, err))
            return false;
    }
    return true;
}

bool store_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count,
                     usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                     struct error *err)
{
    if (!checks_open(store, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!check_heartbeat(&heartbeats[i], err))
            return false;
        pools_out[i] = (struct pool_answer){0};
    }
    if (count == 0)
        return true;
    if (!store->driver->heartbeat(store, heartbeats, count, now, answers_out, pools_out, err))
        return false;
    store_clock_refresh(store);
    return true;
}

bool store_pool_register(struct store *store, const struct pool *pool, usec_t now,
                         struct error *err)
{
    struct pool started = *pool;

    if (started.started_at == 0)
        started.started_at = now;
    return checks_open(store, err) && checks_pool(pool->name, err) &&
           store->driver->pool_register(store, &started, now, err);
}

bool store_pools(struct store *store, struct pool_list *pools_out, struct error *err)
{
    if (!checks_open(store, err) || !store->driver->pools(store, pools_out, err))
        return false;
    store_clock_refresh(store);
    return true;
}

bool store_pool_remove(struct store *store, const char *name, struct error *err)
{
    return checks_open(store, err) && checks_pool(name, err) &&
           store->driver->pool_remove(store, name, err);
}

bool store_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                     usec_t now, struct error *err)
{
    return checks_open(store, err) && checks_pool(name, err) && checks_by(by, err) &&
           store->driver->pool_want(store, name, want, by, now, err);
}

bool store_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                              struct error *err)
{
    return checks_open(store, err) &&
           store->driver->pool_remove_silent(store, before, removed_out, err);
}
