/*
 * offers.c - what the live pools of a store offer: which queues they serve, which types they
 * handle.
 */
#include "client/offers.h"

#include "base/text.h"
#include "job/pattern.h"

#include <string.h>

/* The store knows a pool as NAME.RANDOM. */
static bool is_called(const struct pool *pool, const char *name)
{
    const size_t length = strlen(name);

    if (strncmp(pool->name, name, length) != 0)
        return false;
    return pool->name[length] == '\0' ||
           (pool->name[length] == '.' && !strchr(pool->name + length + 1, '.'));
}

static bool read_statuses(struct offers *offers, const char *besides, usec_t since,
                          struct error *err)
{
    const struct pool_list *list = &offers->list;

    offers->pools = arena_alloc(&offers->arena, (list->count + 1) * sizeof *offers->pools);
    if (!offers->pools)
        return error_no_memory(err);
    for (size_t i = 0; i < list->count; i++) {
        const struct pool *pool = &list->items[i];

        if (pool->beat_at >= since && !(besides && is_called(pool, besides)))
            offers->pools[offers->count++] = pool_status_read(pool->status, &offers->arena);
    }
    return !offers->arena.failed || error_no_memory(err);
}

bool offers_read(struct store *store, struct offers *offers_out, struct error *err)
{
    return offers_read_besides(store, NULL, POOL_SILENT_AFTER, offers_out, err);
}

bool offers_read_besides(struct store *store, const char *besides, usec_t silent_after,
                         struct offers *offers_out, struct error *err)
{
    struct offers offers = {0};

    if (!store_pools(store, &offers.list, err) ||
        !read_statuses(&offers, besides, store_now(store) - silent_after, err)) {
        offers_done(&offers);
        return false;
    }
    *offers_out = offers;
    return true;
}

void offers_done(struct offers *offers)
{
    pool_list_done(&offers->list);
    arena_done(&offers->arena);
    *offers = (struct offers){0};
}

static bool serves(const struct pool_status *pool, const char *queue)
{
    bool found = !pool->queues;

    for (size_t i = 0; i < pool->queue_count && !found; i++)
        found = text_equal(pool->queues[i].name, queue);
    return found;
}

/* The better one of what was found so far and what this pool has. */
static const struct pool_handler *better_handler(const struct pool_status *pool, const char *type,
                                                 const struct pool_handler *best)
{
    const struct pool_handler *found = pool_status_handler(pool, type);

    if (!best || !found)
        return found ? found : best;
    return pattern_fit(found->pattern, type) > pattern_fit(best->pattern, type) ? found : best;
}

enum offers_gap offers_gap(const struct offers *offers, const char *queue, const char *type)
{
    enum offers_gap gap = offers->count == 0 ? OFFERS_NO_POOL : OFFERS_NO_QUEUE;

    for (size_t i = 0; i < offers->count; i++) {
        const struct pool_status *pool = &offers->pools[i];

        if (!serves(pool, queue))
            continue;
        if (!pool->handlers || better_handler(pool, type, NULL))
            return OFFERS_NO_GAP;
        gap = OFFERS_NO_HANDLER;
    }
    return gap;
}

const struct pool_handler *offers_handler(const struct offers *offers, const char *queue,
                                          const char *type)
{
    const struct pool_handler *best = NULL;

    for (size_t i = 0; i < offers->count; i++) {
        if (serves(&offers->pools[i], queue))
            best = better_handler(&offers->pools[i], type, best);
    }
    return best;
}

static size_t count_names(const struct offers *offers)
{
    size_t count = 0;

    for (size_t i = 0; i < offers->count; i++)
        count += offers->pools[i].queue_count + offers->pools[i].handler_count;
    return count;
}

const char *offers_closest_queue(struct offers *offers, const char *queue)
{
    const char **names = arena_alloc(&offers->arena, (count_names(offers) + 1) * sizeof *names);
    size_t count = 0;

    for (size_t i = 0; i < offers->count && names; i++) {
        for (size_t j = 0; j < offers->pools[i].queue_count; j++) {
            if (offers->pools[i].queues[j].name)
                names[count++] = offers->pools[i].queues[j].name;
        }
    }
    return text_closest(queue, names, count);
}

const char *offers_closest_type(struct offers *offers, const char *type)
{
    const char **names = arena_alloc(&offers->arena, (count_names(offers) + 1) * sizeof *names);
    size_t count = 0;

    for (size_t i = 0; i < offers->count && names; i++) {
        for (size_t j = 0; j < offers->pools[i].handler_count; j++) {
            const char *pattern = offers->pools[i].handlers[j].pattern;
            if (pattern && job_name_is_valid(pattern))
                names[count++] = pattern;
        }
    }
    return text_closest(type, names, count);
}
