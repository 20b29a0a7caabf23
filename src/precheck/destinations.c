/*
 * destinations.c - jobs that the config itself brings: would anybody run them?
 *
 * A job is run by a pool that serves its queue and has a handler for its type: the one of this
 * config, or one that lives now. A queue that is left to remote workers is theirs to know.
 */
#include "precheck/destinations.h"

#include "config/config.h"
#include "config/handler_match.h"
#include "precheck/finding.h"
#include "precheck/store_sight.h"

/* Where a job goes, and the keys that say so, up to the one before `type` and `queue`. */
struct route {
    const char *type, *queue;
    const char *keys[3]; /* the third is NULL for two */
};

/* handlers.X.on_dead.KEY or cron.X.KEY */
struct route_keys {
    const char *items[5];
};

static struct route_keys keys_of(const struct route *route, const char *key)
{
    const char *const *up_to = route->keys;

    if (!up_to[2])
        return (struct route_keys){{up_to[0], up_to[1], key, NULL}};
    return (struct route_keys){{up_to[0], up_to[1], up_to[2], key, NULL}};
}

/* A name under `queues:` or `handlers:` that reads much the same. */
static const char *queue_hint(const struct precheck *precheck, const char *word)
{
    const char *names[64];
    size_t count = 0;

    for (size_t i = 0; i < precheck->config->queue_count && count < COUNT_OF(names); i++)
        names[count++] = precheck->config->queues[i].name;
    return diagnostics_hint(precheck->diagnostics, word, names, count);
}

static const char *type_hint(const struct precheck *precheck, const char *word)
{
    const char *names[64];
    size_t count = 0;

    for (size_t i = 0; i < precheck->config->handler_count && count < COUNT_OF(names); i++)
        names[count++] = precheck->config->handlers[i].pattern;
    return diagnostics_hint(precheck->diagnostics, word, names, count);
}

static void check_route(const struct precheck *precheck, const struct store_sight *sight,
                        const struct route *route)
{
    const struct queue_config *queue = config_find_queue(precheck->config, route->queue);

    if (queue && (queue->remote || handler_match(precheck->config, route->type)))
        return;
    const enum offers_gap gap = offers_gap(&sight->offers, route->queue, route->type);
    if (gap == OFFERS_NO_GAP)
        return;
    if (queue || gap == OFFERS_NO_HANDLER)
        finding_warning(precheck, keys_of(route, "type").items,
                        "no handler is for '%s', here or in a live pool of its queue: its jobs "
                        "would wait for one%s",
                        route->type, type_hint(precheck, route->type));
    else
        finding_warning(precheck, keys_of(route, "queue").items,
                        "nobody serves '%s', neither this config nor a live pool: its jobs would "
                        "wait%s",
                        route->queue, queue_hint(precheck, route->queue));
}

void destinations_check(const struct precheck *precheck, const struct store_sight *sight)
{
    const struct config *config = precheck->config;

    for (size_t i = 0; i < config->handler_count; i++) {
        const struct handler_config *handler = &config->handlers[i];
        const struct route route = {handler->on_dead.type,
                                    handler->on_dead.queue,
                                    {"handlers", handler->pattern, "on_dead"}};

        if (route.type)
            check_route(precheck, sight, &route);
    }
    for (size_t i = 0; i < config->cron_count; i++) {
        const struct cron_config *cron = &config->cron[i];
        const struct route route = {cron->type, cron->queue, {"cron", cron->name, NULL}};

        if (cron->enabled)
            check_route(precheck, sight, &route);
    }
}
