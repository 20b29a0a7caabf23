/*
 * store_pools.h - the pools that work on a store, as callers see them: part of store.h.
 *
 * A pool registers, says with each heartbeat that it lives, and extends with it the leases that it
 * holds. What is answered tells it which of them are lost, and what somebody wants of it.
 */
#ifndef STORE_STORE_POOLS_H
#define STORE_STORE_POOLS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/uuid.h"
#include "job/lease.h"
#include "job/pool_want.h"

struct store;

/* ---- beats ---- */

/* A lease to extend, with what its execution has to tell. */
struct lease_beat {
    struct uuid job;
    const char *queue;
    struct lease_token token;
    int64_t ref;          /* from the reserved job, or 0 */
    int worker;           /* 0: not started yet */
    int progress_percent; /* -1: no change */
    const char *progress_text;
    struct bytes output; /* the tail so far; absent: no change */
    usec_t lease_for;    /* 0: as the others of its pool */
};

struct heartbeat {
    const char *pool;
    struct bytes status; /* what the pool's processes do, as JSON for people; absent: no change */
    const struct lease_beat *leases;
    size_t lease_count;
    usec_t lease_for;
};

struct lease_answer {
    /* TH_OK; TH_E_UNAVAILABLE: its part of the store does not answer, nothing is known; anything
     * else: the lease is lost, stop the run. */
    enum th_error_code verdict;
    bool cancel_requested;
    bool watched; /* somebody looks at the job, and wants to see what it says as it comes */
};

struct pool_answer {
    bool is_registered; /* false: it was removed */
    bool is_watched;    /* somebody looks at the pools */
    enum pool_want want;
    usec_t wanted_at; /* 0: nobody has ever wanted anything */
};

/* Of one pool or several, in one round trip and one transaction. answers_out has room for all their
 * leases, those of the first pool first; pools_out for `count`. */
bool store_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count,
                     usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                     struct error *err) MUST_CHECK;

/* ---- who there is ---- */

struct pool {
    const char *name;
    const char *host;
    int64_t pid;
    usec_t started_at;
    usec_t beat_at;
    struct bytes status;

    /* Not by the pool itself. */
    enum pool_want want;
    usec_t wanted_at;      /* 0: nobody has ever wanted anything */
    const char *wanted_by; /* NULL: nobody said */
};

struct pool_list {
    struct arena arena;
    struct pool *items;
    size_t count;
};

void pool_list_done(struct pool_list *list);

/* One of this name begins anew: nothing is wanted of it. */
bool store_pool_register(struct store *store, const struct pool *pool, usec_t now,
                         struct error *err) MUST_CHECK;
bool store_pools(struct store *store, struct pool_list *pools_out, struct error *err) MUST_CHECK;

/* Its counters are kept; its jobs return when their leases end. TH_E_NOT_FOUND when unknown. */
bool store_pool_remove(struct store *store, const char *name, struct error *err) MUST_CHECK;

/* Keeps with the pool what somebody wants of it, for its next heartbeat to hear; the last one who
 * wants something is right. `by` says who, or is NULL. TH_E_NOT_FOUND when it is unknown. */
bool store_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                     usec_t now, struct error *err) MUST_CHECK;

/* All pools that have been silent since `before`, in one pass; their names are in removed_out. */
bool store_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                              struct error *err) MUST_CHECK;

#endif
