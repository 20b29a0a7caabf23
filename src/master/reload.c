/*
 * reload.c - HUP: a new config, and then one process after the other that has read it.
 *
 * Invariants:
 *   - Nothing is changed before all of the new config has been checked.
 *   - Workers are told only when the new dispatcher is ready: what the old one handed out is in
 *     their socket, and they empty it.
 *   - The dispatcher and the workers that are started belong to the same generation: no newer one
 *     is taken over before all services have read the last one.
 */
#include "master/reload.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "master/children.h"
#include "master/generation.h"
#include "master/listeners.h"
#include "master/rejection.h"
#include "master/roles.h"
#include "master/this_pool.h"
#include "master/upgrade.h"
#include "process/lease_table.h"
#include "process/scoreboard.h"

#define PATIENCE (60 * USEC_PER_SEC) /* every call of a store ends long before that */

/* ---- the new config ---- */

#define HINT "the old config stays"

static void reject(const char *error)
{
    log_error("config_rejected", "error=%s hint=%s", error, HINT);
}

static const struct handler_config *find_too_many(const struct config *config, size_t jobs)
{
    for (size_t i = 0; i < config->handler_count; i++) {
        if ((size_t)config->handlers[i].concurrency > jobs)
            return &config->handlers[i];
    }
    return NULL;
}

bool reload_is_possible(const struct config *from, const struct config *to, int seats, size_t jobs,
                        struct error *err)
{
    const struct handler_config *too_many = find_too_many(to, jobs);

    if (!text_equal(from->pool.pool_id, to->pool.pool_id))
        return error_set(err, TH_E_INVALID,
                         "pool.pool_id cannot change while thd runs: restart it");
    if (to->pool.num_workers > seats)
        return error_set(err, TH_E_INVALID,
                         "pool.num_workers can grow to %d while thd runs, not to %d: restart it",
                         seats, to->pool.num_workers);
    if (too_many)
        return error_set(err, TH_E_INVALID,
                         "handlers.%s.concurrency can grow to %zu while thd runs, not to %d: "
                         "restart it",
                         too_many->pattern, jobs, too_many->concurrency);
    return true;
}

static int worker_seats(const struct children *children)
{
    int seats = 0;

    for (size_t i = 0; i < children->count; i++)
        seats += children->seats[i].role == ROLE_WORKER;
    return seats;
}

/* NULL when it was rejected. What was opened for it may have to be closed then. */
static struct generation *read_generation(const struct children *children)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    CLEANUP(config_done) struct config config = {0};
    const struct this_pool *pool = children->pool;
    const struct master_options *options = pool->options;
    struct generation *generation = NULL;
    enum door door;
    struct error err;

    if (options->reread(options->context, pool->config->path, &config, &diagnostics, &err) &&
        reload_is_possible(pool->config, &config, worker_seats(children),
                           scoreboard_places(pool->scoreboard), &err) &&
        this_pool_raise_limits(pool, config.pool.num_workers, &err) &&
        listeners_open(options->listeners, &config, roles_doors(), &door, &err) &&
        generation_new(&config, lease_table_capacity(pool->leases), &generation, &err))
        return generation;
    rejection_log(&diagnostics, err.text, HINT);
    return NULL;
}

/* ---- the processes ---- */

static struct this_pool *pool_of(const struct reload *reload)
{
    return reload->children->pool;
}

static bool is_service(const struct seat *seat)
{
    return seat->role != ROLE_WORKER;
}

/* Whether the seat has the process that the newest config wants there, and no other. */
static bool is_up_to_date(const struct seat *seat)
{
    if (!seat_is_wanted(seat))
        return seat->pid == 0;
    return seat->pid != 0 && seat_is_current(seat) && seat->is_ready;
}

/* One step towards that. A process that is not ready yet is waited for. */
static void replace(struct seat *seat)
{
    if (seat->pid == 0)
        children_fill(seat);
    else if (!seat_is_wanted(seat) || !seat_is_current(seat))
        seat_retire(seat);
}

static void replace_workers(const struct children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        struct seat *seat = &children->seats[i];

        if (!is_service(seat) && !is_up_to_date(seat))
            replace(seat);
    }
}

static void replace_service(struct reload *reload, struct seat *seat)
{
    replace(seat);
    if (!seat->is_retiring || seat->serial == reload->awaited)
        return;
    reload->awaited = seat->serial;
    loop_set_timer(pool_of(reload)->loop, &reload->timer, clock_boot() + PATIENCE);
}

/* What was told to retire, and did not, hangs. */
static void lose_patience(void *context)
{
    const struct reload *reload = context;
    const struct children *children = reload->children;

    for (size_t i = 0; i < children->count; i++) {
        struct seat *seat = &children->seats[i];

        if (seat->pid == 0 || seat->serial != reload->awaited)
            continue;
        log_error("process_hangs", "name=%s pid=%d silent_ms=%" PRId64, seat->name, (int)seat->pid,
                  PATIENCE / USEC_PER_MSEC);
        seat_kill(seat);
    }
}

/* ---- from the old to the new ---- */

/* An old address is closed here at once. The door that listens there goes on until it is replaced.
 */
static void keep_listeners(const struct reload *reload)
{
    const struct this_pool *pool = pool_of(reload);

    listeners_keep(pool->options->listeners, pool->config,
                   reload->next ? &reload->next->config : NULL);
}

static void begin(struct reload *reload, struct generation *generation)
{
    struct this_pool *pool = pool_of(reload);

    this_pool_adopt(pool, generation);
    this_pool_set_replacing(pool, true);
    scoreboard_use(pool->scoreboard, children_extent(reload->children));
    log_info("config_accepted", "config=%s generation=%u", pool->config->path, generation->number);
}

static void finish(struct reload *reload)
{
    struct this_pool *pool = pool_of(reload);
    const struct config *config = pool->config;

    loop_clear_timer(pool->loop, &reload->timer);
    log_info("config_reloaded", "workers=%d queues=%zu handlers=%zu generation=%u old_workers=%zu",
             config->pool.num_workers, config->queue_count, config->handler_count,
             pool->generation->number, children_count_old(reload->children));
    this_pool_set_replacing(pool, false);
    if (pool->state == POOL_RUNNING)
        this_pool_tell_running(pool);
}

static void take_next(struct reload *reload)
{
    struct generation *next = reload->next;

    reload->next = NULL;
    begin(reload, next);
    keep_listeners(reload);
    listeners_log(pool_of(reload)->options->listeners);
}

void reload_init(struct reload *reload, struct children *children, const struct upgrade *upgrade)
{
    *reload = (struct reload){
        .children = children,
        .upgrade = upgrade,
        .timer = {.call = lose_patience, .context = reload},
    };
}

void reload_done(struct reload *reload)
{
    generation_leave(&reload->next);
}

/* False when all services have read the newest config. */
static bool replace_next(struct reload *reload)
{
    const struct children *children = reload->children;

    for (size_t i = 0; i < children->count; i++) {
        struct seat *seat = &children->seats[i];

        if (!is_service(seat))
            continue;
        if (!is_up_to_date(seat)) {
            replace_service(reload, seat);
            return true;
        }
        if (seat->role == ROLE_DISPATCHER)
            replace_workers(children);
    }
    return false;
}

void reload_continue(struct reload *reload)
{
    const struct this_pool *pool = pool_of(reload);

    while (pool->is_replacing && pool->state <= POOL_RUNNING) {
        if (replace_next(reload))
            return;
        finish(reload);
        if (reload->next)
            take_next(reload);
    }
}

static bool may_reload(const struct reload *reload, struct error *err)
{
    if (pool_of(reload)->state > POOL_RUNNING)
        return error_set(err, TH_E_INVALID, "this pool is about to end");
    if (upgrade_is_under_way(reload->upgrade))
        return error_set(err, TH_E_INVALID, "a new thd is about to replace this one");
    return true;
}

void reload_ask(struct reload *reload)
{
    struct this_pool *pool = pool_of(reload);
    struct error err;

    if (!may_reload(reload, &err)) {
        reject(err.text);
        return;
    }
    if (pool->state == POOL_RUNNING)
        notify_send(&pool->notify, "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\nSTATUS=reloading",
                    clock_monotonic());
    struct generation *generation = read_generation(reload->children);
    if (generation) {
        generation_leave(&reload->next);
        reload->next = generation;
    }
    keep_listeners(reload);
    if (!pool->is_replacing && reload->next)
        take_next(reload);
    if (!pool->is_replacing && pool->state == POOL_RUNNING)
        this_pool_tell_running(pool);
    reload_continue(reload);
}
