/*
 * overrun.c - ends what is for too long inside a plugin.
 *
 * Invariants:
 *   - A run is sent TERM once, and KILL only after it had kill_grace to return; one whose lease is
 *     lost, or may be over, is sent KILL at once.
 *   - A worker that has gone on to another job meanwhile is not killed for the one before. If it
 *     does so in the very moment, the dispatcher knows which run it was killed for.
 */
#include "master/overrun.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "config/plugin_id.h"
#include "master/master.h"
#include "process/lease_table.h"

#include <signal.h>
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

static void tell(const struct child_seat *seat, const char *signal_name, int number)
{
    const uint32_t plugin = scoreboard_plugin(seat->master->scoreboard, seat->slot).plugin;
    const char *path = plugin_id_path(seat->master->config, plugin);
    char name[PLUGIN_NAME_SIZE];

    log_warning("plugin_overrun", "name=%s pid=%d plugin=%s reason=%s signal=%s", seat->name,
                (int)seat->pid, path ? plugin_id_name(path, name) : "-",
                stop_reason_name(seat->overrun.reason), signal_name);
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
static usec_t go_on(struct child_seat *seat, const struct overrun_facts *facts)
{
    struct overrun *overrun = &seat->overrun;

    if (overrun->is_killed)
        return USEC_MAX; /* its end is about to be seen */
    overrun->kill_at =
        sooner(overrun->kill_at, facts->now + overrun_grace(facts, &seat->master->config->pool));
    if (facts->now < overrun->kill_at)
        return overrun->kill_at;
    tell(seat, "SIGKILL", SIGKILL);
    overrun->is_killed = true;
    return USEC_MAX;
}

static usec_t begin(struct child_seat *seat, const struct overrun_facts *facts)
{
    const enum stop_reason reason = overrun_reason(facts);
    const usec_t grace = overrun_grace(facts, &seat->master->config->pool);

    seat->overrun = (struct overrun){.reason = reason, .hold = facts->mark.hold};
    if (reason == STOP_NONE)
        return end_of(facts);
    seat->overrun.kill_at = facts->now + grace;
    if (grace > 0)
        tell(seat, "SIGTERM", SIGTERM);
    return go_on(seat, facts);
}

/* When to look again; 0: it is in no plugin. */
static usec_t look_at(struct child_seat *seat, usec_t now)
{
    const struct master *master = seat->master;
    struct overrun_facts facts = {
        .mark = scoreboard_plugin(master->scoreboard, seat->slot),
        .is_stopping = master->state == POOL_STOPPING,
        .now = now,
    };

    if (facts.mark.plugin == 0)
        return 0;
    facts.stop_at = lease_table_stop_at(master->leases, facts.mark.hold);
    facts.flags = lease_table_flags(master->leases, facts.mark.hold);
    if (seat->overrun.reason != STOP_NONE && hold_equal(seat->overrun.hold, facts.mark.hold))
        return go_on(seat, &facts);
    return begin(seat, &facts);
}

static void look_at_all(void *context)
{
    struct master *master = context;
    const usec_t now = clock_boot();
    usec_t next = now + LOOK_IDLE;

    for (size_t i = 0; i < master->children.count; i++) {
        struct child_seat *seat = &master->children.seats[i];
        const usec_t again = seat->pid != 0 && seat->number > 0 ? look_at(seat, now) : 0;

        if (again != 0)
            next = sooner(next, sooner(again, now + LOOK_BUSY));
    }
    loop_set_timer(master->loop, &master->overrun_timer,
                   next > now + LOOK_SOON ? next : now + LOOK_SOON);
}

void overrun_start(struct master *master)
{
    master->overrun_timer = (struct loop_timer){.call = look_at_all, .context = master};
    overrun_look(master);
}

void overrun_look(struct master *master)
{
    if (plugin_id_any(master->config))
        look_at_all(master);
}

/* A plugin may have undone what makes TERM harmless. */
static bool did_kill(const struct overrun *overrun, int status)
{
    return overrun->reason != STOP_NONE &&
           (overrun->is_killed || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
}

/* As far as the worker has said. */
static struct hold hold_of(const struct child_seat *seat)
{
    const struct scoreboard *board = seat->master->scoreboard;
    const struct plugin_mark mark = scoreboard_plugin(board, seat->slot);
    struct slot slot;

    if (mark.plugin != 0)
        return mark.hold;
    return scoreboard_read(board, seat->slot, &slot) && slot.state == SLOT_RUNNING ? slot.hold
                                                                                   : HOLD_NONE;
}

struct worker_end overrun_end_of(const struct child_seat *seat, int status)
{
    const struct overrun *overrun = &seat->overrun;
    const bool was_killed = did_kill(overrun, status);

    return (struct worker_end){
        .status = status,
        .plugin =
            seat->number > 0 ? scoreboard_plugin(seat->master->scoreboard, seat->slot).plugin : 0,
        .killed_for = was_killed ? overrun->reason : STOP_NONE,
        .killed_hold = was_killed ? overrun->hold : HOLD_NONE,
        .hold = seat->number > 0 ? hold_of(seat) : HOLD_NONE,
    };
}

void overrun_note_stopped(struct child_seat *seat)
{
    if (seat->number > 0 && !seat->overrun.is_killed)
        seat->overrun =
            (struct overrun){.reason = STOP_FROZEN, .hold = hold_of(seat), .is_killed = true};
}
