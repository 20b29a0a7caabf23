/*
 * known_queues.c - the names of queues that somebody uses, so that a mistyped one is noticed.
 */
#include "thctl/known_queues.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "client/offers.h"

static void add(struct known_queues *known, const char *name)
{
    if (name)
        known->names[known->count++] = arena_text(&known->arena, name);
}

static size_t count_offered(const struct offers *offers)
{
    size_t count = 0;

    for (size_t i = 0; i < offers->count; i++)
        count += offers->pools[i].queue_count;
    return count;
}

static bool collect(const struct session *session, const struct queue_stats_list *stats,
                    const struct offers *offers, struct known_queues *known, struct error *err)
{
    const struct config *config = &session->config;
    const size_t most = 1 + stats->count + count_offered(offers) + config->queue_count;

    known->names = arena_alloc(&known->arena, most * sizeof *known->names);
    if (!known->names)
        return error_no_memory(err);
    add(known, JOB_QUEUE_DEFAULT);
    for (size_t i = 0; i < stats->count; i++)
        add(known, stats->items[i].queue);
    for (size_t i = 0; i < offers->count; i++) {
        for (size_t j = 0; j < offers->pools[i].queue_count; j++)
            add(known, offers->pools[i].queues[j].name);
    }
    for (size_t i = 0; i < config->queue_count; i++)
        add(known, config->queues[i].name);
    return !known->arena.failed || error_no_memory(err);
}

bool known_queues_read(struct session *session, struct known_queues *known_out, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    CLEANUP(offers_done) struct offers offers = {0};
    struct known_queues known = {0};

    if (!store_stats(session->store, &stats, err) || !offers_read(session->store, &offers, err) ||
        !collect(session, &stats, &offers, &known, err)) {
        known_queues_done(&known);
        return false;
    }
    *known_out = known;
    return true;
}

void known_queues_done(struct known_queues *known)
{
    arena_done(&known->arena);
    *known = (struct known_queues){0};
}

bool known_queues_has(const struct known_queues *known, const char *queue)
{
    for (size_t i = 0; i < known->count; i++) {
        if (text_equal(known->names[i], queue))
            return true;
    }
    return false;
}

const char *known_queues_closest(const struct known_queues *known, const char *queue)
{
    return text_closest(queue, known->names, known->count);
}

bool known_queues_refuse(const struct known_queues *known, const char *queue, const char *advice,
                         struct error *err)
{
    const char *closest = known_queues_closest(known, queue);

    if (closest)
        return error_set(err, TH_E_NOT_FOUND, "there is no queue '%s' (did you mean '%s'?)%s",
                         queue, closest, advice);
    return error_set(err, TH_E_NOT_FOUND, "there is no queue '%s': 'thctl queues' lists them%s",
                     queue, advice);
}
