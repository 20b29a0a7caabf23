/*
 * aside.c - jobs that were set aside, and that this pool may run.
 */
#include "dispatcher/aside.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "config/handler_match.h"
#include "dispatcher/starts.h"
#include "dispatcher/state.h"
#include "job/aside.h"
#include "process/process.h"
#include "process/start_board.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_INTERVAL (5 * USEC_PER_SEC)
#define AT_ONCE       1000 /* jobs; what is left comes with the next turn */

static void wake_up(void *context)
{
    (void)context; /* being awake is enough */
}

void aside_look_in(struct dispatcher *dispatcher, usec_t delay)
{
    const usec_t at = clock_boot() + delay;

    if (dispatcher->look_at != 0 && dispatcher->look_at <= at)
        return;
    dispatcher->look_at = at;
    dispatcher->look_timer.call = wake_up;
    loop_set_timer(dispatcher->process->loop, &dispatcher->look_timer, at);
}

static struct start *start_of(const struct dispatcher *dispatcher, const char *type)
{
    const struct handler_config *handler = handler_match(dispatcher->config, type);

    return handler ? &dispatcher->starts[handler - dispatcher->config->handlers] : NULL;
}

static enum start_fetch fetch_of(const struct dispatcher *dispatcher, const struct aside_type *type,
                                 usec_t now)
{
    struct start *start = start_of(dispatcher, type->type);

    if (!start)
        return FETCH_NONE;
    return type->why == ASIDE_NO_HANDLER ? FETCH_ALL : starts_fetch(start, type->since, now);
}

/* Jobs of one type: all, those that are given up, or one as a probe. */
static bool fetch(struct dispatcher *dispatcher, const struct aside_type *type, usec_t now,
                  struct error *err)
{
    const enum start_fetch how = fetch_of(dispatcher, type, now);
    size_t moved = 0;

    if (how == FETCH_NONE)
        return true;
    if (!store_bring_back(dispatcher->store, type, how == FETCH_OLD ? aside_cutoff(now) : 0,
                          how == FETCH_ONE ? 1 : AT_ONCE, &moved, err))
        return outage_may_pass(err);
    if (moved == 0)
        return true;
    queues_wake(&dispatcher->queues);
    if (moved == AT_ONCE)
        aside_look_in(dispatcher, 0);
    log_at(how == FETCH_ONE ? LEVEL_DEBUG : LEVEL_INFO, "jobs_back",
           "queue=%s type=%s count=%zu reason=%s", type->queue, type->type, moved,
           aside_name(type->why));
    return true;
}

/* A probe need not wait for the next look. */
static void expect_probes(struct dispatcher *dispatcher, usec_t now)
{
    for (size_t i = 0; i < dispatcher->config->handler_count; i++) {
        const usec_t probe_at = starts_next_probe(&dispatcher->starts[i]);
        if (probe_at > now)
            aside_look_in(dispatcher, probe_at - now);
    }
}

static bool list_types(struct dispatcher *dispatcher, struct aside_list *types, struct error *err)
{
    const struct queues *queues = &dispatcher->queues;
    AUTO_FREE const char **names = calloc(queues->count, sizeof *names);

    if (!names)
        return error_no_memory(err);
    for (size_t i = 0; i < queues->count; i++)
        names[i] = queues->items[i].name;
    return store_aside(dispatcher->store, names, queues->count, types, err);
}

bool aside_look(struct dispatcher *dispatcher, struct error *err)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    const usec_t now = store_now(dispatcher->store);

    if (dispatcher->state != DISPATCHER_SERVING || dispatcher->queues.count == 0 ||
        clock_boot() < dispatcher->look_at)
        return true;
    dispatcher->look_at = 0;
    aside_look_in(dispatcher, LOOK_INTERVAL);
    if (!list_types(dispatcher, &types, err))
        return false;
    for (size_t i = 0; i < types.count; i++)
        if (!fetch(dispatcher, &types.items[i], now, err))
            return false;
    expect_probes(dispatcher, now);
    return true;
}

void aside_show_start(const struct dispatcher *dispatcher, size_t handler)
{
    const struct start *start = &dispatcher->starts[handler];
    struct start_failure failure = {.since = start->failing_since, .next_try = start->probe_at};

    const struct bytes line = text_last_line(start->error);
    snprintf(failure.error, sizeof failure.error, "%.*s", (int)line.length,
             (const char *)line.data);
    start_board_set(dispatcher->process->start_board, handler, &failure);
}

void aside_tell(struct dispatcher *dispatcher, const char *type, const char *queue)
{
    for (size_t i = 0; i < DISPATCHER_TOLD_TYPES; i++)
        if (text_equal(dispatcher->told_types[i], type))
            return;
    snprintf(dispatcher->told_types[dispatcher->told_count++ % DISPATCHER_TOLD_TYPES],
             sizeof dispatcher->told_types[0], "%s", type);
    log_warning("type_unhandled", "type=%s queue=%s hint=%s", type, queue,
                "no handler here: its jobs are set aside, uncounted, until a pool that has one "
                "serves the queue; after a day they are dead");
}
