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
#include "master/generation.h"
#include "master/master.h"
#include "master/rejection.h"
#include "process/lease_table.h"

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

static int worker_seats(const struct master *master)
{
    int seats = 0;

    for (size_t i = 0; i < master->children.count; i++)
        seats += master->children.seats[i].role == ROLE_WORKER;
    return seats;
}

/* NULL when it was rejected. */
static struct generation *read_generation(struct master *master)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    CLEANUP(config_done) struct config config = {0};
    const struct master_options *options = master->options;
    struct generation *generation = NULL;
    struct error err;

    if (options->reread(options->context, master->config->path, &config, &diagnostics, &err) &&
        reload_is_possible(master->config, &config, worker_seats(master),
                           scoreboard_places(master->scoreboard), &err) &&
        master_raise_limits(master, config.pool.num_workers, &err) &&
        generation_new(&config, lease_table_capacity(master->leases), &generation, &err))
        return generation;
    rejection_log(&diagnostics, err.text, HINT);
    return NULL;
}

/* ---- the processes ---- */

static bool is_service(const struct child_seat *seat)
{
    return seat->number == 0;
}

static bool is_current(const struct child_seat *seat)
{
    return seat->generation == seat->master->generation;
}

/* Whether there is whom the newest config wants there, and nobody else. */
static bool is_up_to_date(const struct child_seat *seat)
{
    if (!children_is_wanted(seat))
        return seat->pid == 0;
    return seat->pid != 0 && is_current(seat) && seat->is_ready;
}

/* Towards that. One that is not ready yet is waited for. */
static void replace(struct child_seat *seat)
{
    if (seat->pid == 0)
        children_fill(seat);
    else if (!children_is_wanted(seat) || !is_current(seat))
        children_retire(seat);
}

static void replace_workers(struct master *master)
{
    for (size_t i = 0; i < master->children.count; i++) {
        struct child_seat *seat = &master->children.seats[i];

        if (!is_service(seat) && !is_up_to_date(seat))
            replace(seat);
    }
}

static void replace_service(struct child_seat *seat)
{
    struct master *master = seat->master;

    replace(seat);
    if (!seat->is_retiring || seat->serial == master->reload.awaited)
        return;
    master->reload.awaited = seat->serial;
    loop_set_timer(master->loop, &master->reload.timer, clock_boot() + PATIENCE);
}

/* What was told to retire, and did not, hangs. */
static void lose_patience(void *context)
{
    struct master *master = context;

    for (size_t i = 0; i < master->children.count; i++) {
        struct child_seat *seat = &master->children.seats[i];

        if (seat->pid == 0 || seat->serial != master->reload.awaited)
            continue;
        log_error("process_hangs", "name=%s pid=%d silent_ms=%" PRId64, seat->name, (int)seat->pid,
                  PATIENCE / USEC_PER_MSEC);
        children_kill(seat);
    }
}

/* ---- from the old to the new ---- */

static void begin(struct master *master, struct generation *generation)
{
    master->reload.is_under_way = true;
    master_adopt(master, generation);
    log_info("config_accepted", "config=%s generation=%u", master->config->path,
             generation->number);
}

static void finish(struct master *master)
{
    const struct config *config = master->config;

    master->reload.is_under_way = false;
    loop_clear_timer(master->loop, &master->reload.timer);
    log_info("config_reloaded", "workers=%d queues=%zu handlers=%zu generation=%u old_workers=%zu",
             config->pool.num_workers, config->queue_count, config->handler_count,
             master->generation->number, reload_count_old(master));
    master_show(master);
    if (master->state == POOL_RUNNING)
        master_tell_running(master);
}

static void take_next(struct master *master)
{
    struct generation *next = master->reload.next;

    master->reload.next = NULL;
    begin(master, next);
}

void reload_init(struct master *master)
{
    master->reload.timer = (struct loop_timer){.call = lose_patience, .context = master};
}

void reload_done(struct reload *reload)
{
    generation_leave(&reload->next);
}

/* False when all services have read the newest config. */
static bool replace_next(struct master *master)
{
    for (size_t i = 0; i < master->children.count; i++) {
        struct child_seat *seat = &master->children.seats[i];

        if (!is_service(seat))
            continue;
        if (!is_up_to_date(seat)) {
            replace_service(seat);
            return true;
        }
        if (seat->role == ROLE_DISPATCHER)
            replace_workers(master);
    }
    return false;
}

void reload_continue(struct master *master)
{
    while (master->reload.is_under_way && master->state <= POOL_RUNNING) {
        if (replace_next(master))
            return;
        finish(master);
        if (master->reload.next)
            take_next(master);
    }
}

static bool may_reload(const struct master *master, struct error *err)
{
    if (master->state > POOL_RUNNING)
        return error_set(err, TH_E_INVALID, "this pool is about to end");
    if (upgrade_is_under_way(master))
        return error_set(err, TH_E_INVALID, "a new thd is about to replace this one");
    return true;
}

void reload_ask(struct master *master)
{
    struct error err;

    if (!may_reload(master, &err)) {
        reject(err.text);
        return;
    }
    if (master->state == POOL_RUNNING)
        notify_send(&master->notify, "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\nSTATUS=reloading",
                    clock_monotonic());
    struct generation *generation = read_generation(master);
    if (generation) {
        generation_leave(&master->reload.next);
        master->reload.next = generation;
    }
    if (!master->reload.is_under_way && master->reload.next)
        take_next(master);
    if (!master->reload.is_under_way && master->state == POOL_RUNNING)
        master_tell_running(master);
    reload_continue(master);
}

size_t reload_count_old(const struct master *master)
{
    size_t count = 0;

    for (size_t i = 0; i < master->children.count; i++) {
        const struct child_seat *seat = &master->children.seats[i];

        count += !is_service(seat) && seat->pid != 0 && !is_current(seat);
    }
    return count;
}
