/*
 * overrun.c - ends what has been inside a plugin for too long.
 *
 * Invariants:
 *   - A run is sent TERM once, and KILL only after it had kill_grace to return; one whose lease is
 *     lost, or may be over, is sent KILL at once.
 *   - A worker that has gone on to another job meanwhile is not killed for the one before. If it
 *     does so in the very moment, the dispatcher knows which run it was killed for.
 */
#include "master/overrun.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "config/plugin_id.h"
#include "master/children.h"
#include "master/this_pool.h"
#include "process/lease_table.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* A worker says nothing when it enters a plugin: that would cost a system call per job. */
#define LOOK_IDLE (250 * USEC_PER_MSEC) /* nobody was inside at the last look */
#define LOOK_BUSY (50 * USEC_PER_MSEC)
#define LOOK_SOON USEC_PER_MSEC

enum stop_reason overrun_reason(const struct overrun_facts *facts)
{
    const struct plugin_mark *mark = &facts->mark;

    if (mark->until != 0 && mark->until <= facts->now)
        return STOP_TIMEOUT;
    if (hold_equal(mark->hold, HOLD_NONE))
        return STOP_NONE; /* no job is at stake */
    if ((facts->flags & LEASE_LOST) || facts->stop_at <= facts->now)
        return STOP_LOST_LEASE;
    if (facts->flags & LEASE_CANCELED)
        return STOP_CANCEL;
    return facts->is_stopping ? STOP_DRAIN : STOP_NONE;
}

usec_t overrun_grace(const struct overrun_facts *facts, const struct pool_config *pool)
{
    if (hold_equal(facts->mark.hold, HOLD_NONE))
        return pool->kill_grace;
    if (facts->flags & LEASE_LOST)
        return 0;
    if (facts->stop_at > facts->now)
        return pool->kill_grace;
    return lease_grace(facts->stop_at, pool->lease, pool->kill_grace, facts->now);
}

static struct overrun_watch *watch_of(const struct overrun *overrun, const struct seat *seat)
{
    return &overrun->watches[seat->slot];
}

static void tell(const struct seat *seat, enum stop_reason reason, const char *signal_name,
                 int number)
{
    const uint32_t plugin = scoreboard_plugin(seat->pool->scoreboard, seat->slot).plugin;
    const char *path = plugin_id_path(seat->pool->config, plugin);
    char name[PLUGIN_NAME_SIZE];

    log_warning("plugin_overrun", "name=%s pid=%d plugin=%s reason=%s signal=%s", seat->name,
                (int)seat->pid, path ? plugin_id_name(path, name) : "-", stop_reason_name(reason),
                signal_name);
    kill(seat->pid, number);
}

static usec_t sooner(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

/* Of one that may go on for now: when it may not any more, as far as it is known by now. */
static usec_t end_of(const struct overrun_facts *facts)
{
    const struct plugin_mark *mark = &facts->mark;
    const usec_t until = mark->until != 0 ? mark->until : USEC_MAX;

    return hold_equal(mark->hold, HOLD_NONE) ? until : sooner(until, facts->stop_at);
}

/* What was sent TERM for another reason may lose its lease before it has returned. */
static usec_t go_on(const struct seat *seat, struct overrun_watch *watch,
                    const struct overrun_facts *facts)
{
    if (watch->is_killed)
        return USEC_MAX; /* its end is about to be seen */
    watch->kill_at =
        sooner(watch->kill_at, facts->now + overrun_grace(facts, &seat->pool->config->pool));
    if (facts->now < watch->kill_at)
        return watch->kill_at;
    tell(seat, watch->reason, "SIGKILL", SIGKILL);
    watch->is_killed = true;
    return USEC_MAX;
}

static usec_t begin(const struct seat *seat, struct overrun_watch *watch,
                    const struct overrun_facts *facts)
{
    const enum stop_reason reason = overrun_reason(facts);
    const usec_t grace = overrun_grace(facts, &seat->pool->config->pool);

    *watch = (struct overrun_watch){.reason = reason, .hold = facts->mark.hold};
    if (reason == STOP_NONE)
        return end_of(facts);
    watch->kill_at = facts->now + grace;
    if (grace > 0)
        tell(seat, reason, "SIGTERM", SIGTERM);
    return go_on(seat, watch, facts);
}

/* When to look again; 0: it is in no plugin. */
static usec_t look_at(const struct seat *seat, struct overrun_watch *watch, usec_t now)
{
    const struct this_pool *pool = seat->pool;
    struct overrun_facts facts = {
        .mark = scoreboard_plugin(pool->scoreboard, seat->slot),
        .is_stopping = pool->state == POOL_STOPPING,
        .now = now,
    };

    if (facts.mark.plugin == 0)
        return 0;
    facts.stop_at = lease_table_stop_at(pool->leases, facts.mark.hold);
    facts.flags = lease_table_flags(pool->leases, facts.mark.hold);
    if (watch->reason != STOP_NONE && hold_equal(watch->hold, facts.mark.hold))
        return go_on(seat, watch, &facts);
    return begin(seat, watch, &facts);
}

static void look_at_all(void *context)
{
    struct overrun *overrun = context;
    const struct children *children = overrun->children;
    const usec_t now = clock_boot();
    usec_t next = now + LOOK_IDLE;

    for (size_t i = 0; i < children->count; i++) {
        const struct seat *seat = &children->seats[i];
        const bool works = seat->pid != 0 && seat->role == ROLE_WORKER;
        const usec_t again = works ? look_at(seat, watch_of(overrun, seat), now) : 0;

        if (again != 0)
            next = sooner(next, sooner(again, now + LOOK_BUSY));
    }
    loop_set_timer(children->pool->loop, &overrun->timer,
                   next > now + LOOK_SOON ? next : now + LOOK_SOON);
}

bool overrun_init(struct overrun *overrun, const struct children *children, struct error *err)
{
    *overrun = (struct overrun){
        .children = children,
        .watches = calloc(children->count, sizeof *overrun->watches),
        .timer = {.call = look_at_all, .context = overrun},
    };
    return overrun->watches || error_no_memory(err);
}

void overrun_done(struct overrun *overrun)
{
    free(overrun->watches);
    overrun->watches = NULL;
}

void overrun_look(struct overrun *overrun)
{
    if (plugin_id_any(overrun->children->pool->config))
        look_at_all(overrun);
}

/* A plugin may have undone what makes TERM harmless. */
bool overrun_did_kill(const struct overrun_watch *watch, int status)
{
    if (watch->reason == STOP_NONE || !WIFSIGNALED(status))
        return false;
    return WTERMSIG(status) == SIGTERM || (watch->is_killed && WTERMSIG(status) == SIGKILL);
}

/* As far as the worker has said. */
static struct hold hold_of(const struct seat *seat)
{
    const struct scoreboard *board = seat->pool->scoreboard;
    const struct plugin_mark mark = scoreboard_plugin(board, seat->slot);
    struct slot slot;

    if (mark.plugin != 0)
        return mark.hold;
    return scoreboard_read(board, seat->slot, &slot) && slot.state == SLOT_RUNNING ? slot.hold
                                                                                   : HOLD_NONE;
}

void overrun_note_stopped(struct overrun *overrun, const struct seat *seat)
{
    struct overrun_watch *watch = watch_of(overrun, seat);

    if (seat->role == ROLE_WORKER && !watch->is_killed)
        *watch =
            (struct overrun_watch){.reason = STOP_FROZEN, .hold = hold_of(seat), .is_killed = true};
}

/* A mark that names what never was a run was overwritten by the run that the worker is in: it is
 * not killed for another one. */
static bool is_for_a_run(const struct seat *seat, const struct overrun_watch *watch)
{
    return watch->reason == STOP_FROZEN || hold_equal(watch->hold, HOLD_NONE) ||
           lease_table_was_handed(seat->pool->leases, watch->hold);
}

struct worker_end overrun_end_of(const struct overrun *overrun, const struct seat *seat, int status)
{
    const struct overrun_watch *watch = watch_of(overrun, seat);
    const bool was_killed = overrun_did_kill(watch, status) && is_for_a_run(seat, watch);
    const bool works = seat->role == ROLE_WORKER;

    return (struct worker_end){
        .status = status,
        .plugin = works ? scoreboard_plugin(seat->pool->scoreboard, seat->slot).plugin : 0,
        .killed_for = was_killed ? watch->reason : STOP_NONE,
        .killed_hold = was_killed ? watch->hold : HOLD_NONE,
        .hold = works ? hold_of(seat) : HOLD_NONE,
    };
}

void overrun_forget(struct overrun *overrun, const struct seat *seat)
{
    *watch_of(overrun, seat) = (struct overrun_watch){0};
}
