/*
 * store_aside.c - ready jobs that nobody can run now: store.c for what concerns them.
 */
#include "base/error.h"
#include "store/checks.h"
#include "store/driver.h"

static bool check_type(const struct aside_type *type, struct error *err)
{
    return (job_name_is_valid(type->queue) && type->type && type->why != ASIDE_NONE) ||
           error_set(err, TH_E_INVALID, "what is aside has a queue, a type and a reason");
}

bool store_aside(struct store *store, const char *const *queues, size_t count,
                 struct aside_list *types_out, struct error *err)
{
    return checks_open(store, err) && store->driver->aside(store, queues, count, types_out, err);
}

bool store_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                      size_t limit, size_t *moved_out, struct error *err)
{
    return checks_open(store, err) && check_type(type, err) &&
           store->driver->bring_back(store, type, before, limit, moved_out, err);
}

bool store_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                   size_t limit, size_t *ended_out, struct error *err)
{
    return checks_open(store, err) && check_type(type, err) &&
           store->driver->give_up(store, type, before, now, limit, ended_out, err);
}
