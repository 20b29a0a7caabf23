/*
 * this_pool.c - the pool that this thd runs: its config, its state, and what its processes share.
 */
#include "master/this_pool.h"

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "config/config.h"
#include "master/generation.h"
#include "master/roles.h"
#include "process/known_clocks.h"
#include "process/lease_table.h"
#include "process/loop.h"
#include "process/meters.h"
#include "process/news_ring.h"
#include "process/result_ring.h"
#include "process/scoreboard.h"
#include "process/title.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FILES_MIN        64 /* descriptors beside those of the workers */
#define FILES_PER_WORKER 4

/* ---- what is said of it ---- */

/* To whoever looks at ps. */
static void show(const struct this_pool *pool)
{
    const char *state = pool->state > POOL_RUNNING ? pool_state_name(pool->state)
                        : pool->is_replacing       ? "replacing"
                                                   : "";

    title_set("thd: master pool=%s%s%s", pool->name.shown, state[0] ? " " : "", state);
}

static const char *running_or_paused(const struct this_pool *pool)
{
    return pool->is_paused ? "paused" : "running";
}

void this_pool_tell_running(const struct this_pool *pool)
{
    notify_send(&pool->notify, "READY=1\nSTATUS=%s with %d workers", running_or_paused(pool),
                pool->config->pool.num_workers);
}

void this_pool_open_log(const struct this_pool *pool, const char *process)
{
    const struct log_options options = {
        .level = pool->config->log.level,
        .format = pool->config->log.format,
        .pool = pool->name.shown,
    };

    log_open(&options);
    log_set_process(process);
}

/* What the config may say and this thd does not do, and who else may change what it says. */
static void warn_of_gaps(const struct config *config)
{
    if (config->exposed)
        log_warning("config_exposed", "path=%s reason=%s", config->exposed,
                    "others may write it, and so decide what this pool runs");
    if (config->has_faktory)
        log_warning("config_ignored", "key=faktory reason=%s",
                    "this thd does not speak Faktory's protocol yet");
}

/* Where several backends are named, the wrong one may be meant. */
static void tell_backend(const struct master_options *options)
{
    if (options->backend_passed_over)
        log_warning("backend_chosen", "backend=%s from=%s not_used=%s", options->backend_shown,
                    options->backend_source, options->backend_passed_over);
}

/* ---- its life ---- */

static struct pool_name choose_name(const struct config *config)
{
    char host[HOST_NAME_MAX + 1] = "";
    uint32_t random;

    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    random_bytes(&random, sizeof random);
    return pool_name_make(config->pool.pool_id, host, getpid(), random);
}

void this_pool_init(struct this_pool *pool, const struct master_options *options)
{
    *pool = (struct this_pool){
        .options = options,
        .generation = options->generation,
        .config = &options->generation->config,
        .name = choose_name(&options->generation->config),
        .master = getpid(),
        .state = POOL_STARTING,
        .notify = {.socket = -1},
        .nudge = -1,
        .due = -1,
    };
    pool->generation->number = 1;
    show(pool);
    this_pool_open_log(pool, "master");
    warn_of_gaps(pool->config);
    tell_backend(options);
}

/* The limit that we were given is kept for the jobs. */
static bool note_limits(struct this_pool *pool, struct error *err)
{
    if (getrlimit(RLIMIT_NOFILE, &pool->files))
        return error_errno(err, TH_E_INTERNAL, errno, "ask for the limit of descriptors");
    return true;
}

/* The master has three descriptors per worker, the dispatcher two. */
bool this_pool_raise_limits(const struct this_pool *pool, int workers, struct error *err)
{
    const rlim_t wanted = FILES_MIN + FILES_PER_WORKER * (rlim_t)workers;
    struct rlimit raised = pool->files;

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

bool this_pool_open(struct this_pool *pool, struct error *err)
{
    return notify_open(&pool->notify, err) && loop_open(&pool->loop, err) &&
           note_limits(pool, err) &&
           this_pool_raise_limits(pool, pool->config->pool.num_workers, err);
}

/* It has room for all that a reload may ask for; what nobody uses takes no memory. */
bool this_pool_share(struct this_pool *pool, size_t processes, struct error *err)
{
    if (!lease_table_open(roles_holds(pool->config), &pool->leases, err) ||
        !known_clocks_open(ROLES, &pool->known_clocks, err) || !meters_open(&pool->meters, err) ||
        !news_ring_open(&pool->news_ring, err) ||
        !result_rings_open(roles_result_rings(pool->config), &pool->result_rings, err) ||
        !scoreboard_open(processes, roles_jobs(pool->config), &pool->scoreboard, err))
        return false;
    pool->nudge = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pool->due = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return (pool->nudge >= 0 && pool->due >= 0) ||
           error_errno(err, TH_E_INTERNAL, errno, "open an eventfd");
}

void this_pool_close(struct this_pool *pool)
{
    if (pool->due >= 0)
        close(pool->due);
    if (pool->nudge >= 0)
        close(pool->nudge);
    generation_leave(&pool->generation);
    scoreboard_close(&pool->scoreboard);
    result_rings_close(&pool->result_rings);
    meters_close(&pool->meters);
    news_ring_close(&pool->news_ring);
    known_clocks_close(&pool->known_clocks);
    lease_table_close(&pool->leases);
    loop_close(&pool->loop);
    notify_close(&pool->notify);
}

/* ---- its changes ---- */

void this_pool_enter(struct this_pool *pool, enum pool_state state)
{
    assert(pool_state_may_become(pool->state, state));
    pool->state = state;
    show(pool);
    switch (state) {
    case POOL_STARTING:
        break;
    case POOL_RUNNING:
        this_pool_tell_running(pool);
        break;
    case POOL_DRAINING:
        notify_send(&pool->notify, "STOPPING=1\nSTATUS=draining: waits for running jobs");
        break;
    case POOL_STOPPING:
        notify_send(&pool->notify, "STOPPING=1\nSTATUS=stopping");
        break;
    }
}

void this_pool_set_paused(struct this_pool *pool, bool is_paused)
{
    pool->is_paused = is_paused;
    notify_send(&pool->notify, "STATUS=%s with %d workers", running_or_paused(pool),
                pool->config->pool.num_workers);
    log_info(is_paused ? "pool_paused" : "pool_resumed", "state=%s", pool_state_name(pool->state));
}

void this_pool_set_replacing(struct this_pool *pool, bool is_replacing)
{
    pool->is_replacing = is_replacing;
    show(pool);
}

void this_pool_adopt(struct this_pool *pool, struct generation *generation)
{
    generation->number = pool->generation->number + 1;
    generation_leave(&pool->generation);
    pool->generation = generation;
    pool->config = &generation->config;
    this_pool_open_log(pool, "master");
    warn_of_gaps(pool->config);
}
