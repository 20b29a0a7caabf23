/*
 * store_sight.h - what --check sees of the backend: whether it answers, and who serves it.
 */
#ifndef PRECHECK_STORE_SIGHT_H
#define PRECHECK_STORE_SIGHT_H

#include "base/arena.h"
#include "base/base.h"
#include "client/pool_status.h"
#include "precheck/precheck.h"
#include "store/store.h"

struct error;

struct store_sight {
    const char *remark; /* for people: " (will be created)" or "" */
    struct arena arena;
    struct pool_list pools;
    struct pool_status *live; /* what the live ones say, but for those whose place the checked
                                 config takes */
    size_t live_count;
};

/* False when the backend does not answer, or cannot be used. Nothing is created. */
bool store_sight_take(const struct precheck *precheck, struct store_sight *sight,
                      struct error *err) MUST_CHECK;
void store_sight_done(struct store_sight *sight);

#endif
