/*
 * shutdown.c - drain, TERM, KILL: how a pool ends.
 *
 * Invariants:
 *   - A phase is entered by one function, which also sets the timer that belongs to it.
 *   - While jobs may be held, a dispatcher and a heartbeater that die are replaced.
 */
#include "master/shutdown.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "master/greeting.h"
#include "master/master.h"
#include "process/process.h"

#include <assert.h>
#include <sys/wait.h>

#define STOP_PATIENCE        (5 * USEC_PER_SEC) /* behind kill_grace */
#define OTHERS_PATIENCE      (2 * USEC_PER_SEC)
#define HEARTBEATER_PATIENCE (5 * USEC_PER_SEC)

static bool is_running(const struct child_seat *seat)
{
    return seat->pid != 0;
}

static bool any_runs_but(const struct master *master, enum role_id spared)
{
    for (size_t i = 0; i < master->children.count; i++) {
        if (master->children.seats[i].role != spared && is_running(&master->children.seats[i]))
            return true;
    }
    return false;
}

static void do_to_all_but(struct master *master, enum role_id spared,
                          void (*act)(struct child_seat *seat))
{
    for (size_t i = 0; i < master->children.count; i++) {
        if (master->children.seats[i].role != spared)
            act(&master->children.seats[i]);
    }
}

static void enter_phase(struct master *master, enum shutdown_phase phase, usec_t patience)
{
    loop_clear_timer(master->loop, &master->shutdown.timer);
    master->shutdown.phase = phase;
    if (patience > 0)
        loop_set_timer(master->loop, &master->shutdown.timer, clock_boot() + patience);
}

static void forget_restarts(struct master *master)
{
    for (size_t i = 0; i < master->children.count; i++)
        loop_clear_timer(master->loop, &master->children.seats[i].restart_timer);
}

/* ---- the phases, last one first ---- */

static void finish(struct master *master)
{
    log_info("pool_stopped", "exit_code=%d", master->exit_code);
    loop_stop(master->loop);
}

static void enter_heartbeater(struct master *master)
{
    struct child_seat *heartbeater = children_seat(master, ROLE_HEARTBEATER);

    enter_phase(master, PHASE_HEARTBEATER, HEARTBEATER_PATIENCE);
    children_dismiss(heartbeater);
}

static void enter_others(struct master *master)
{
    enter_phase(master, PHASE_OTHERS, OTHERS_PATIENCE);
    forget_restarts(master);
    do_to_all_but(master, ROLE_HEARTBEATER, children_dismiss);
}

/* As far as nobody has to be waited for. */
static void advance(struct master *master)
{
    struct child_seat *heartbeater = children_seat(master, ROLE_HEARTBEATER);

    if (master->shutdown.phase == PHASE_OTHERS && !any_runs_but(master, ROLE_HEARTBEATER))
        enter_heartbeater(master);
    if (master->shutdown.phase == PHASE_HEARTBEATER && !is_running(heartbeater))
        enter_phase(master, PHASE_ORPHANS, 0);
    if (master->shutdown.phase == PHASE_ORPHANS && !any_runs_but(master, ROLES))
        clearing_begin(master);
}

static void kill_everything(struct master *master)
{
    master->exit_code = PROCESS_FAILED;
    forget_restarts(master);
    do_to_all_but(master, ROLES, children_kill);
    enter_phase(master, PHASE_ORPHANS, 0);
    advance(master);
}

/* ---- the states of the pool ---- */

static void enter_draining(struct master *master, const char *reason)
{
    const usec_t timeout = master->config->pool.shutdown_timeout;

    master_enter(master, POOL_DRAINING);
    greeting_print_drain(master);
    log_info("pool_draining", "reason=%s timeout_ms=%" PRId64, reason, timeout / USEC_PER_MSEC);
    enter_phase(master, PHASE_GIVING_BACK, timeout > 0 ? timeout : 1);
}

static void enter_stopping(struct master *master, const char *reason)
{
    master_enter(master, POOL_STOPPING);
    log_info("pool_stopping", "reason=%s", reason);
    enter_phase(master, PHASE_GIVING_BACK, master->config->pool.kill_grace + STOP_PATIENCE);
    overrun_look(master);
}

/* The dispatcher decides what can be given back, so there has to be one, and it has to know. */
static void ask_dispatcher(struct master *master)
{
    children_hurry(children_seat(master, ROLE_DISPATCHER));
    children_brief(master);
}

static void time_is_up(void *context)
{
    struct master *master = context;

    switch (master->shutdown.phase) {
    case PHASE_GIVING_BACK:
        if (master->state == POOL_DRAINING)
            shutdown_force(master, "shutdown_timeout");
        else
            kill_everything(master);
        return;
    case PHASE_OTHERS:
        do_to_all_but(master, ROLE_HEARTBEATER, children_kill);
        return;
    case PHASE_HEARTBEATER: /* the name that it leaves in the store is removed by any reaper */
        children_kill(children_seat(master, ROLE_HEARTBEATER));
        return;
    case PHASE_NONE:
    case PHASE_ORPHANS:
        break;
    }
    assert(!"a phase without a timer");
}

void shutdown_init(struct master *master)
{
    master->shutdown.timer = (struct loop_timer){.call = time_is_up, .context = master};
}

void shutdown_ask(struct master *master, const char *reason)
{
    if (!pool_state_may_become(master->state, POOL_DRAINING)) {
        shutdown_force(master, reason);
        return;
    }
    enter_draining(master, reason);
    ask_dispatcher(master);
}

void shutdown_force(struct master *master, const char *reason)
{
    if (!pool_state_may_become(master->state, POOL_STOPPING))
        return;
    enter_stopping(master, reason);
    ask_dispatcher(master);
}

/* ---- the end of a process ---- */

/* It says so with its exit code. One that failed, or was killed, has said nothing. */
static bool dispatcher_is_done(int status)
{
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == PROCESS_OK || WEXITSTATUS(status) == PROCESS_GAVE_UP);
}

static bool is_needed(const struct master *master, enum role_id role)
{
    switch (master->state) {
    case POOL_STARTING:
    case POOL_RUNNING:
    case POOL_DRAINING:
        return true;
    case POOL_STOPPING:
        return master->shutdown.phase == PHASE_GIVING_BACK &&
               (role == ROLE_DISPATCHER || role == ROLE_HEARTBEATER);
    }
    assert(!"a pool in no known state");
    return false;
}

enum shutdown_verdict shutdown_judge(const struct master *master, const struct child_seat *seat,
                                     int status)
{
    if (master->shutdown.phase > PHASE_GIVING_BACK)
        return VERDICT_LET_GO;
    if (seat->role != ROLE_WORKER && WIFEXITED(status) && WEXITSTATUS(status) == PROCESS_UNUSABLE)
        return VERDICT_UNUSABLE; /* of a worker it is what a plugin said, with exit(3) */
    if (seat->role == ROLE_DISPATCHER && dispatcher_is_done(status))
        return VERDICT_ALL_GIVEN_BACK;
    return is_needed(master, seat->role) ? VERDICT_REPLACE : VERDICT_LET_GO;
}

/* Nothing is held any more, or nobody can give it back: the others may go. */
static void end_without_dispatcher(struct master *master)
{
    if (pool_state_may_become(master->state, POOL_STOPPING))
        master_enter(master, POOL_STOPPING);
    enter_others(master);
}

static void give_up(struct master *master, const struct child_seat *seat)
{
    master->exit_code = PROCESS_FAILED;
    if (seat->role == ROLE_DISPATCHER)
        end_without_dispatcher(master);
    else
        shutdown_force(master, "unusable");
}

void shutdown_follow(struct master *master, const struct child_seat *seat, int status,
                     enum shutdown_verdict verdict)
{
    switch (verdict) {
    case VERDICT_REPLACE:
    case VERDICT_LET_GO:
        break;
    case VERDICT_ALL_GIVEN_BACK:
        if (WEXITSTATUS(status) != PROCESS_OK)
            master->exit_code = PROCESS_FAILED;
        end_without_dispatcher(master);
        break;
    case VERDICT_UNUSABLE:
        give_up(master, seat);
        break;
    }
    advance(master);
}

void shutdown_note_cleared(struct master *master)
{
    if (master->shutdown.phase == PHASE_ORPHANS && !any_runs_but(master, ROLES))
        finish(master);
}
