/*
 * master.c - `thd: master`: forks the pool's processes, keeps them alive, and ends them.
 *
 *     signals, deaths, reports --> loop --> children.c   who runs, who is started anew
 *                                       --> ledger.c     whose results are still to be settled
 *                                       --> briefing.c   what the dispatcher has to know of it
 *                                       --> clearing.c   what dead workers left behind
 *                                       --> overrun.c    who is for too long inside a plugin
 *                                       --> shutdown.c   how the pool ends
 *                                       --> reload.c     a new config
 *                                       --> upgrade.c    a new thd in our place
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
#include "base/random.h"
#include "config/config.h"
#include "master/dump.h"
#include "master/generation.h"
#include "master/greeting.h"
#include "process/lease_table.h"
#include "process/message.h"
#include "process/orphans.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "process/title.h"
#include "process/tray.h"

#include <taskharbor/version.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FILES_MIN        64 /* descriptors beside those of the workers */
#define FILES_PER_WORKER 4
#define LAST_WORDS       USEC_PER_SEC

/* ---- state ---- */

static const char *running_or_paused(const struct master *master)
{
    return master->is_paused ? "paused" : "running";
}

void master_tell_running(const struct master *master)
{
    notify_send(&master->notify, "READY=1\nSTATUS=%s with %d workers", running_or_paused(master),
                master->config->pool.num_workers);
}

void master_show(const struct master *master)
{
    const char *state = master->state > POOL_RUNNING  ? pool_state_name(master->state)
                        : master->reload.is_under_way ? "replacing"
                                                      : "";

    title_set("thd: master pool=%s%s%s", master->name.shown, state[0] ? " " : "", state);
}

void master_enter(struct master *master, enum pool_state state)
{
    assert(pool_state_may_become(master->state, state));
    master->state = state;
    master_show(master);
    switch (state) {
    case POOL_STARTING:
        break;
    case POOL_RUNNING:
        master_tell_running(master);
        break;
    case POOL_DRAINING:
        notify_send(&master->notify, "STOPPING=1\nSTATUS=draining: waits for running jobs");
        break;
    case POOL_STOPPING:
        notify_send(&master->notify, "STOPPING=1\nSTATUS=stopping");
        break;
    }
}

static void announce_ready(const struct master *master)
{
    const struct config *config = master->config;

    log_info("pool_ready", "workers=%d queues=%zu handlers=%zu backend=%s version=%s",
             config->pool.num_workers, config->queue_count, config->handler_count,
             master->options->backend_shown, TH_VERSION);
    greeting_print(master);
}

void master_note_ready(struct master *master)
{
    if (master->state != POOL_STARTING)
        return;
    for (size_t i = 0; i < master->children.count; i++) {
        const struct child_seat *seat = &master->children.seats[i];

        if (children_is_wanted(seat) && !seat->was_ever_ready)
            return;
    }
    announce_ready(master);
    master_enter(master, POOL_RUNNING);
    upgrade_announce(master);
}

/* ---- signals ---- */

static void drain(struct master *master, const char *name)
{
    upgrade_call_off(master);
    shutdown_ask(master, name);
}

static void stop(struct master *master, const char *name)
{
    upgrade_call_off(master);
    shutdown_force(master, name);
}

static void reap(struct master *master, const char *name)
{
    (void)name;
    children_reap(master);
}

static void reload(struct master *master, const char *name)
{
    (void)name;
    reload_ask(master);
}

static void upgrade(struct master *master, const char *name)
{
    (void)name;
    upgrade_ask(master);
}

static void dump(struct master *master, const char *name)
{
    (void)name;
    log_hold();
    dump_log(master);
    log_release();
}

static void set_paused(struct master *master, bool is_paused)
{
    if (master->is_paused == is_paused || master->state > POOL_RUNNING)
        return;
    master->is_paused = is_paused;
    notify_send(&master->notify, "STATUS=%s with %d workers", running_or_paused(master),
                master->config->pool.num_workers);
    log_info(is_paused ? "pool_paused" : "pool_resumed", "state=%s",
             pool_state_name(master->state));
    briefing_continue(master);
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
        log_say("\n"); /* behind the ^C that a terminal shows */
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (signals[i].number == number)
            signals[i].act(context, signals[i].name);
    }
}

static bool catch_signals(struct master *master, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (!loop_catch(master->loop, signals[i].number, act_on_signal, master, err))
            return false;
    }
    return true;
}

/* ---- start ---- */

static struct pool_name choose_name(const struct config *config)
{
    char host[HOST_NAME_MAX + 1] = "";
    uint32_t random;

    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    random_bytes(&random, sizeof random);
    return pool_name_make(config->pool.pool_id, host, getpid(), random);
}

static void open_log(const struct master *master)
{
    const struct log_options options = {
        .level = master->config->log.level,
        .format = master->config->log.format,
        .pool = master->name.shown,
    };

    log_open(&options);
    log_set_process("master");
}

/* What the config may say and this thd does not do, and who else may change what it says. */
static void warn_of_gaps(const struct config *config)
{
    if (config->exposed != NULL)
        log_warning("config_exposed", "path=%s reason=%s", config->exposed,
                    "others may write it, and so decide what this pool runs");
    if (config->has_http)
        log_warning("config_ignored", "key=http reason=%s", "this thd has no HTTP server yet");
    if (config->has_faktory)
        log_warning("config_ignored", "key=faktory reason=%s",
                    "this thd does not speak Faktory's protocol yet");
}

/* Where several backends are named, the wrong one may be meant. */
static void tell_backend(const struct master_options *options)
{
    if (options->backend_passed_over != NULL)
        log_warning("backend_chosen", "backend=%s from=%s not_used=%s", options->backend_shown,
                    options->backend_source, options->backend_passed_over);
}

void master_adopt(struct master *master, struct generation *generation)
{
    generation->number = master->generation->number + 1;
    generation_leave(&master->generation);
    master->generation = generation;
    master->config = &generation->config;
    scoreboard_use(master->scoreboard, children_extent(master));
    open_log(master);
    warn_of_gaps(master->config);
    master_show(master);
}

/* The limit that we were given is kept for the jobs. */
static bool note_limits(struct master *master, struct error *err)
{
    if (getrlimit(RLIMIT_NOFILE, &master->files))
        return error_errno(err, TH_E_INTERNAL, errno, "ask for the limit of descriptors");
    return true;
}

/* The master has three descriptors per worker, the dispatcher two. */
bool master_raise_limits(struct master *master, int workers, struct error *err)
{
    const rlim_t wanted = FILES_MIN + FILES_PER_WORKER * (rlim_t)workers;
    struct rlimit raised = master->files;

    if (raised.rlim_cur >= wanted)
        return true;
    raised.rlim_cur = wanted < raised.rlim_max ? wanted : raised.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised))
        return error_errno(err, TH_E_INTERNAL, errno, "raise the limit of descriptors");
    return raised.rlim_cur == wanted ||
           error_set(err, TH_E_INTERNAL,
                     "%d workers need %ju open files and %ju are allowed: raise the limit "
                     "(LimitNOFILE=) or lower pool.num_workers",
                     workers, (uintmax_t)wanted, (uintmax_t)raised.rlim_max);
}

/* What all processes share. It has room for all that a reload may ask for; what nobody uses takes
 * no memory. */
static bool open_shared(struct master *master, struct error *err)
{
    if (!lease_table_open(roles_holds(master->config), &master->leases, err) ||
        !trays_open(roles_trays(master->config), &master->trays, err) ||
        !scoreboard_open(master->children.count, roles_jobs(master->config), &master->scoreboard,
                         err))
        return false;
    scoreboard_use(master->scoreboard, children_extent(master));
    master->nudge = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return master->nudge >= 0 || error_errno(err, TH_E_INTERNAL, errno, "open an eventfd");
}

static void feed_watchdog(void *context)
{
    struct master *master = context;

    notify_send(&master->notify, "WATCHDOG=1");
    loop_set_timer(master->loop, &master->watchdog_timer,
                   clock_boot() + master->notify.watchdog_half);
}

static void start_watchdog(struct master *master)
{
    master->watchdog_timer = (struct loop_timer){.call = feed_watchdog, .context = master};
    if (master->notify.watchdog_half > 0)
        feed_watchdog(master);
}

static bool open_all(struct master *master, struct error *err)
{
    if (!notify_open(&master->notify, err) || !loop_open(&master->loop, err) ||
        !upgrade_init(master, err) || !catch_signals(master, err) || !orphans_adopt(err) ||
        !note_limits(master, err) ||
        !master_raise_limits(master, master->config->pool.num_workers, err) ||
        !children_init(master, err) || !clearing_init(master, err) || !open_shared(master, err))
        return false;
    process_tend_log(master->loop, &master->log_timer);
    shutdown_init(master);
    reload_init(master);
    briefing_reset(master);
    start_watchdog(master);
    pulse_start(master);
    overrun_start(master);
    return true;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_all(struct master *master)
{
    close_if_open(master->nudge);
    ledger_done(&master->ledger);
    clearing_done(&master->clearing);
    children_done(&master->children);
    reload_done(&master->reload);
    upgrade_done(&master->upgrade);
    generation_leave(&master->generation);
    scoreboard_close(&master->scoreboard);
    trays_close(&master->trays);
    lease_table_close(&master->leases);
    loop_close(&master->loop);
    notify_close(&master->notify);
}

static bool run(struct master *master, struct error *err)
{
    if (!open_all(master, err))
        return false;
    children_start_all(master);
    return loop_run(master->loop, err);
}

/* A master that cannot go on ends, and its end is everybody's. */
int master_run(const struct master_options *options)
{
    CLEANUP(close_all)
    struct master master = {
        .options = options,
        .generation = options->generation,
        .config = &options->generation->config,
        .name = choose_name(&options->generation->config),
        .pid = getpid(),
        .state = POOL_STARTING,
        .notify = {.socket = -1},
        .nudge = -1,
        .upgrade = {.ready = -1, .announce = -1},
    };
    struct error err;

    master.generation->number = 1;
    master_show(&master);
    open_log(&master);
    warn_of_gaps(master.config);
    tell_backend(options);
    if (!run(&master, &err))
        master.exit_code = process_fail(&err);
    log_close(LAST_WORDS);
    return master.exit_code;
}
