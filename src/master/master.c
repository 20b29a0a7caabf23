/*
 * master.c - `thd: master`: forks the pool's processes, keeps them alive, and ends them.
 *
 *     signals --------------------> signals[]  --> shutdown.c   how the pool ends
 *                                              --> reload.c     a new config
 *                                              --> upgrade.c    a new thd in our place
 *
 *     children.c: who runs,
 *     and who is restarted -------> events     --> pulse.c      who hangs
 *                                              --> overrun.c    who has been inside a plugin too
 * long
 *                                              --> clearing.c   what dead workers left behind
 *                                              --> shutdown.c, reload.c, upgrade.c
 *
 * What they do to a process goes down to children.c and seat.c, which know none of them; what
 * happens comes up through the tables here. scripts/layers has the order.
 *
 * Woken by signals, by what its processes report, and by timers of restarts, of the shutdown and of
 * the watchdog.
 *
 * Invariants:
 *   - It opens no store, holds no job, waits for nobody: nothing that a process, a job or a
 *     database does can make it hang.
 *   - When it dies, all others end by themselves.
 */
#include "master/master.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "master/children.h"
#include "master/clearing.h"
#include "master/doors.h"
#include "master/dump.h"
#include "master/greeting.h"
#include "master/listeners.h"
#include "master/overrun.h"
#include "master/pulse.h"
#include "master/reload.h"
#include "master/shutdown.h"
#include "master/this_pool.h"
#include "master/upgrade.h"
#include "process/loop.h"
#include "process/orphans.h"
#include "process/process.h"
#include "process/scoreboard.h"

#include <taskharbor/version.h>

#include <signal.h>

#define LAST_WORDS USEC_PER_SEC

/* From the bottom up: each uses those before it. */
struct master {
    struct this_pool pool;
    struct children children;
    struct overrun overrun;
    struct pulse pulse;
    struct clearing clearing;
    struct shutdown shutdown;
    struct upgrade upgrade;
    struct reload reload;
    struct loop_timer log_timer, watchdog_timer;
    usec_t wanted_at; /* what the store was told last of all that was obeyed */
};

/* ---- what happens to the processes ---- */

static void announce_ready(const struct this_pool *pool)
{
    const struct config *config = pool->config;

    log_info("pool_ready", "workers=%d queues=%zu handlers=%zu backend=%s version=%s",
             config->pool.num_workers, config->queue_count, config->handler_count,
             pool->options->backend_shown, TH_VERSION);
    greeting_print(pool);
}

/* Was it the last one? */
static void note_ready(void *context)
{
    struct master *master = context;

    if (master->pool.state == POOL_STARTING && children_were_ready(&master->children)) {
        announce_ready(&master->pool);
        this_pool_enter(&master->pool, POOL_RUNNING);
        doors_tell_state(master->children.seats, master->children.count);
        upgrade_announce(&master->upgrade);
    }
    reload_continue(&master->reload);
}

static void note_answer(void *context, struct seat *seat)
{
    struct master *master = context;

    pulse_note_answer(&master->pulse, seat);
}

static void note_deaf(void *context, struct seat *seat)
{
    (void)context;
    pulse_note_deaf(seat);
}

static void note_stopped(void *context, struct seat *seat)
{
    struct master *master = context;

    pulse_note_stopped(&master->pulse, seat);
}

static void note_continued(void *context, struct seat *seat)
{
    struct master *master = context;

    pulse_note_continued(&master->pulse, seat);
}

static void note_end(void *context, struct seat *seat, int status)
{
    struct master *master = context;
    const enum shutdown_verdict verdict = shutdown_judge(&master->shutdown, seat, status);
    const struct worker_end end = overrun_end_of(&master->overrun, seat, status);

    pulse_forget(&master->pulse, seat);
    overrun_forget(&master->overrun, seat);
    children_bury(seat, &end, verdict == VERDICT_REPLACE);
    if (seat->role == ROLE_WORKER)
        clearing_begin(&master->clearing);
    shutdown_follow(&master->shutdown, seat, status, verdict);
    reload_continue(&master->reload);
}

static void note_end_of_stranger(void *context, pid_t pid, int status)
{
    struct master *master = context;

    clearing_forget(&master->clearing, pid);
    upgrade_note_end(&master->upgrade, pid, status);
}

static void note_wanted(void *context, enum order_kind order, usec_t since);

static const struct children_events events = {
    .ready = note_ready,
    .answered = note_answer,
    .deaf = note_deaf,
    .stopped = note_stopped,
    .continued = note_continued,
    .wanted = note_wanted,
    .ended = note_end,
    .stranger_ended = note_end_of_stranger,
};

static void note_cleared(void *context)
{
    struct master *master = context;

    children_note_cleared(&master->children);
    shutdown_note_cleared(&master->shutdown);
}

/* ---- signals ---- */

static void drain(struct master *master, const char *name)
{
    upgrade_call_off(&master->upgrade);
    shutdown_ask(&master->shutdown, name);
}

static void stop(struct master *master, const char *name)
{
    upgrade_call_off(&master->upgrade);
    shutdown_force(&master->shutdown, name);
}

static void reap(struct master *master, const char *name)
{
    (void)name;
    children_reap(&master->children);
}

static void reload(struct master *master, const char *name)
{
    (void)name;
    reload_ask(&master->reload);
}

static void upgrade(struct master *master, const char *name)
{
    (void)name;
    upgrade_ask(&master->upgrade);
}

static void dump(struct master *master, const char *name)
{
    (void)name;
    log_hold();
    dump_log(&master->children);
    log_release();
}

static void set_paused(struct master *master, bool is_paused)
{
    if (master->pool.is_paused == is_paused || master->pool.state > POOL_RUNNING)
        return;
    this_pool_set_paused(&master->pool, is_paused);
    children_brief(&master->children);
}

static void pause_pool(struct master *master, const char *name)
{
    (void)name;
    set_paused(master, true);
}

static void resume_pool(struct master *master, const char *name)
{
    (void)name;
    set_paused(master, false);
}

/* From afar, as by a signal: what was wanted last counts, whichever way it came. A heartbeater says
 * it again that has just started: then a signal may have come later. */
static void note_wanted(void *context, enum order_kind order, usec_t since)
{
    struct master *master = context;

    if (since == master->wanted_at)
        return;
    master->wanted_at = since;
    if (order == ORDER_DRAIN && master->shutdown.phase == PHASE_NONE)
        drain(master, "wanted");
    else if (order == ORDER_PAUSE || order == ORDER_RESUME)
        set_paused(master, order == ORDER_PAUSE);
}

/* clang-format off */
static const struct {
    int number;
    const char *name;
    void (*act)(struct master *master, const char *name);
} signals[] = {
    {SIGTERM, "SIGTERM", drain},
    {SIGINT,  "SIGINT",  drain},
    {SIGQUIT, "SIGQUIT", stop},
    {SIGHUP,  "SIGHUP",  reload},
    {SIGUSR1, "SIGUSR1", dump},
    {SIGUSR2, "SIGUSR2", upgrade},
    {SIGTSTP, "SIGTSTP", pause_pool},
    {SIGCONT, "SIGCONT", resume_pool},
    {SIGCHLD, "SIGCHLD", reap},
};
/* clang-format on */

static void act_on_signal(void *context, int number)
{
    if (number == SIGINT || number == SIGQUIT)
        log_say("\n"); /* after the ^C that a terminal shows */
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (signals[i].number == number)
            signals[i].act(context, signals[i].name);
    }
}

static bool catch_signals(struct master *master, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (!loop_catch(master->pool.loop, signals[i].number, act_on_signal, master, err))
            return false;
    }
    return true;
}

/* ---- start ---- */

static void feed_watchdog(void *context)
{
    struct master *master = context;
    const struct notify *notify = &master->pool.notify;

    notify_send(notify, "WATCHDOG=1");
    loop_set_timer(master->pool.loop, &master->watchdog_timer,
                   clock_boot() + notify->watchdog_half);
}

static void start_watchdog(struct master *master)
{
    master->watchdog_timer = (struct loop_timer){.call = feed_watchdog, .context = master};
    if (master->pool.notify.watchdog_half > 0)
        feed_watchdog(master);
}

static bool open_processes(struct master *master, struct error *err)
{
    struct this_pool *pool = &master->pool;
    struct children *children = &master->children;

    if (!children_init(children, pool, &events, master, err) ||
        !overrun_init(&master->overrun, children, err) ||
        !pulse_init(&master->pulse, children, &master->overrun, err) ||
        !clearing_init(&master->clearing, children, note_cleared, master, err) ||
        !this_pool_share(pool, children->count, err))
        return false;
    scoreboard_use(pool->scoreboard, children_extent(children));
    shutdown_init(&master->shutdown, children, &master->clearing, &master->overrun);
    reload_init(&master->reload, children, &master->upgrade);
    return true;
}

static bool open_all(struct master *master, struct error *err)
{
    struct this_pool *pool = &master->pool;

    if (!this_pool_open(pool, err) ||
        !upgrade_init(&master->upgrade, pool, &master->clearing, &master->shutdown, err) ||
        !catch_signals(master, err) || !orphans_adopt(err) || !open_processes(master, err))
        return false;
    process_tend_log(pool->loop, &master->log_timer);
    start_watchdog(master);
    pulse_start(&master->pulse);
    overrun_look(&master->overrun);
    return true;
}

static void close_all(struct master *master)
{
    clearing_done(&master->clearing);
    pulse_done(&master->pulse);
    overrun_done(&master->overrun);
    children_done(&master->children);
    reload_done(&master->reload);
    upgrade_done(&master->upgrade);
    this_pool_close(&master->pool);
}

static bool run(struct master *master, struct error *err)
{
    if (!open_all(master, err))
        return false;
    listeners_log(master->pool.options->listeners);
    children_start_all(&master->children);
    return loop_run(master->pool.loop, err);
}

/* A master that cannot go on ends, and its end is everybody's. */
int master_run(const struct master_options *options)
{
    CLEANUP(close_all) struct master master = {.upgrade = {.ready = -1, .announce = -1}};
    struct error err;

    this_pool_init(&master.pool, options);
    if (!run(&master, &err))
        master.pool.exit_code = process_fail(&err);
    log_close(LAST_WORDS);
    return master.pool.exit_code;
}
