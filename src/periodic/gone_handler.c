/*
 * gone_handler.c - jobs whose handler could not be started, and is not there any more.
 */
#include "periodic/gone_handler.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "client/offers.h"
#include "config/handler_match.h"
#include "job/aside.h"

/* A queue that this pool serves will be looked at by its own dispatcher. */
static bool is_gone_here(const struct config *config, const struct aside_type *type)
{
    const struct queue_config *queue = config_find_queue(config, type->queue);

    return type->why == ASIDE_CANNOT_START && queue && !queue->remote &&
           !handler_match(config, type->type);
}

static bool bring_back(struct store *store, const struct aside_type *type, size_t limit,
                       bool *left_any_out, struct error *err)
{
    size_t moved;

    if (!store_bring_back(store, type, 0, limit, &moved, err))
        return error_prefix(err, "bring back what has no handler any more");
    if (moved > 0)
        log_info("jobs_back", "queue=%s type=%s count=%zu reason=%s", type->queue, type->type,
                 moved, "handler_gone");
    *left_any_out = *left_any_out || moved == limit;
    return true;
}

bool gone_handler_bring_back(struct store *store, const struct config *config, const char *pool,
                             const struct aside_list *types, size_t limit, bool *left_any_out,
                             struct error *err)
{
    CLEANUP(offers_done) struct offers others = {0};
    bool has_asked = false;

    *left_any_out = false;
    for (size_t i = 0; i < types->count; i++) {
        const struct aside_type *type = &types->items[i];

        if (!is_gone_here(config, type))
            continue;
        if (!has_asked &&
            !offers_read_besides(store, pool, config->pool.stale_threshold, &others, err))
            return error_prefix(err, "look what other pools handle");
        has_asked = true;
        if (offers_gap(&others, type->queue, type->type) != OFFERS_NO_GAP &&
            !bring_back(store, type, limit, left_any_out, err))
            return false;
    }
    return true;
}
