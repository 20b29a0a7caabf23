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
#include "master/children.h"
#include "master/clearing.h"
#include "master/doors.h"
#include "master/greeting.h"
#include "master/overrun.h"
#include "master/this_pool.h"
#include "process/process.h"

#include <assert.h>
#include <sys/wait.h>

#define STOP_PATIENCE        (5 * USEC_PER_SEC) /* after kill_grace */
#define DOORS_PATIENCE       (2 * USEC_PER_SEC)
#define OTHERS_PATIENCE      (2 * USEC_PER_SEC)
#define HEARTBEATER_PATIENCE (5 * USEC_PER_SEC)

static struct this_pool *pool_of(const struct shutdown *shutdown)
{
    return shutdown->children->pool;
}

static bool is_running(const struct seat *seat)
{
    return seat->pid != 0;
}

static bool any_runs_but(const struct children *children, enum role_id spared)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->seats[i].role != spared && is_running(&children->seats[i]))
            return true;
    }
    return false;
}

static void do_to_all_but(struct children *children, enum role_id spared,
                          void (*act)(struct seat *seat))
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->seats[i].role != spared)
            act(&children->seats[i]);
    }
}

static struct seat *heartbeater_of(const struct shutdown *shutdown)
{
    return children_seat(shutdown->children, ROLE_HEARTBEATER);
}

static void enter_phase(struct shutdown *shutdown, enum shutdown_phase phase, usec_t patience)
{
    struct loop *loop = pool_of(shutdown)->loop;

    loop_clear_timer(loop, &shutdown->timer);
    shutdown->phase = phase;
    if (patience > 0)
        loop_set_timer(loop, &shutdown->timer, clock_boot() + patience);
}

/* ---- the phases, last one first ---- */

static void finish(const struct shutdown *shutdown)
{
    log_info("pool_stopped", "exit_code=%d", pool_of(shutdown)->exit_code);
    loop_stop(pool_of(shutdown)->loop);
}

static void enter_heartbeater(struct shutdown *shutdown)
{
    enter_phase(shutdown, PHASE_HEARTBEATER, HEARTBEATER_PATIENCE);
    seat_dismiss(heartbeater_of(shutdown));
}

static void enter_others(struct shutdown *shutdown)
{
    enter_phase(shutdown, PHASE_OTHERS, OTHERS_PATIENCE);
    do_to_all_but(shutdown->children, ROLE_HEARTBEATER, seat_dismiss);
}

static bool any_door_runs(const struct children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        if (roles_get(children->seats[i].role)->is_door && is_running(&children->seats[i]))
            return true;
    }
    return false;
}

static void do_to_doors(struct children *children, void (*act)(struct seat *seat))
{
    for (size_t i = 0; i < children->count; i++) {
        if (roles_get(children->seats[i].role)->is_door)
            act(&children->seats[i]);
    }
}

/* First of all: what they still have to answer needs those that have the store. */
static void enter_doors(struct shutdown *shutdown)
{
    enter_phase(shutdown, PHASE_DOORS, DOORS_PATIENCE);
    children_forget_restarts(shutdown->children);
    do_to_doors(shutdown->children, seat_dismiss);
}

/* As far as nobody has to be waited for. */
static void advance(struct shutdown *shutdown)
{
    if (shutdown->phase == PHASE_DOORS && !any_door_runs(shutdown->children))
        enter_others(shutdown);
    if (shutdown->phase == PHASE_OTHERS && !any_runs_but(shutdown->children, ROLE_HEARTBEATER))
        enter_heartbeater(shutdown);
    if (shutdown->phase == PHASE_HEARTBEATER && !is_running(heartbeater_of(shutdown)))
        enter_phase(shutdown, PHASE_ORPHANS, 0);
    if (shutdown->phase == PHASE_ORPHANS && !any_runs_but(shutdown->children, ROLES))
        clearing_begin(shutdown->clearing);
}

static void kill_everything(struct shutdown *shutdown)
{
    pool_of(shutdown)->exit_code = PROCESS_FAILED;
    children_forget_restarts(shutdown->children);
    do_to_all_but(shutdown->children, ROLES, seat_kill);
    enter_phase(shutdown, PHASE_ORPHANS, 0);
    advance(shutdown);
}

/* ---- the states of the pool ---- */

static void enter_draining(struct shutdown *shutdown, const char *reason)
{
    struct this_pool *pool = pool_of(shutdown);
    const usec_t timeout = pool->config->pool.shutdown_timeout;

    this_pool_enter(pool, POOL_DRAINING);
    greeting_print_drain(pool, children_count_running(shutdown->children));
    doors_tell_state(shutdown->children->seats, shutdown->children->count);
    log_info("pool_draining", "reason=%s timeout_ms=%" PRId64, reason, timeout / USEC_PER_MSEC);
    enter_phase(shutdown, PHASE_GIVING_BACK, timeout > 0 ? timeout : 1);
}

static void enter_stopping(struct shutdown *shutdown, const char *reason)
{
    struct this_pool *pool = pool_of(shutdown);

    this_pool_enter(pool, POOL_STOPPING);
    doors_tell_state(shutdown->children->seats, shutdown->children->count);
    log_info("pool_stopping", "reason=%s", reason);
    enter_phase(shutdown, PHASE_GIVING_BACK, pool->config->pool.kill_grace + STOP_PATIENCE);
    overrun_look(shutdown->overrun);
}

/* The dispatcher decides what can be given back, so there has to be one, and it has to know. */
static void ask_dispatcher(struct shutdown *shutdown)
{
    children_hurry(children_seat(shutdown->children, ROLE_DISPATCHER));
    children_brief(shutdown->children);
}

static void time_is_up(void *context)
{
    struct shutdown *shutdown = context;

    switch (shutdown->phase) {
    case PHASE_GIVING_BACK:
        if (pool_of(shutdown)->state == POOL_DRAINING)
            shutdown_force(shutdown, "shutdown_timeout");
        else
            kill_everything(shutdown);
        return;
    case PHASE_DOORS:
        do_to_doors(shutdown->children, seat_kill);
        return;
    case PHASE_OTHERS:
        do_to_all_but(shutdown->children, ROLE_HEARTBEATER, seat_kill);
        return;
    case PHASE_HEARTBEATER: /* the name that it leaves in the store is removed by any reaper */
        seat_kill(heartbeater_of(shutdown));
        return;
    case PHASE_NONE:
    case PHASE_ORPHANS:
        break;
    }
    assert(!"a phase without a timer");
}

void shutdown_init(struct shutdown *shutdown, struct children *children, struct clearing *clearing,
                   struct overrun *overrun)
{
    *shutdown = (struct shutdown){
        .children = children,
        .clearing = clearing,
        .overrun = overrun,
        .timer = {.call = time_is_up, .context = shutdown},
    };
}

void shutdown_ask(struct shutdown *shutdown, const char *reason)
{
    if (!pool_state_may_become(pool_of(shutdown)->state, POOL_DRAINING)) {
        shutdown_force(shutdown, reason);
        return;
    }
    enter_draining(shutdown, reason);
    ask_dispatcher(shutdown);
}

void shutdown_force(struct shutdown *shutdown, const char *reason)
{
    if (!pool_state_may_become(pool_of(shutdown)->state, POOL_STOPPING))
        return;
    enter_stopping(shutdown, reason);
    ask_dispatcher(shutdown);
}

void shutdown_end_doors(struct shutdown *shutdown)
{
    do_to_doors(shutdown->children, seat_dismiss);
}

/* ---- the end of a process ---- */

/* It says so with its exit code. One that failed, or was killed, has said nothing. */
static bool dispatcher_is_done(int status)
{
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == PROCESS_OK || WEXITSTATUS(status) == PROCESS_GAVE_UP);
}

static bool is_needed(const struct shutdown *shutdown, enum role_id role)
{
    switch (pool_of(shutdown)->state) {
    case POOL_STARTING:
    case POOL_RUNNING:
    case POOL_DRAINING:
        return true;
    case POOL_STOPPING:
        return shutdown->phase == PHASE_GIVING_BACK &&
               (role == ROLE_DISPATCHER || role == ROLE_HEARTBEATER);
    }
    assert(!"a pool in no known state");
    return false;
}

enum shutdown_verdict shutdown_judge(const struct shutdown *shutdown, const struct seat *seat,
                                     int status)
{
    if (shutdown->phase > PHASE_GIVING_BACK)
        return VERDICT_LET_GO;
    if (seat->role != ROLE_WORKER && WIFEXITED(status) && WEXITSTATUS(status) == PROCESS_UNUSABLE)
        return VERDICT_UNUSABLE; /* of a worker it is what a plugin said, with exit(3) */
    if (seat->role == ROLE_DISPATCHER && dispatcher_is_done(status))
        return VERDICT_ALL_GIVEN_BACK;
    return is_needed(shutdown, seat->role) ? VERDICT_REPLACE : VERDICT_LET_GO;
}

/* Nothing is held any more, or nobody can give it back: the others may go. */
static void end_without_dispatcher(struct shutdown *shutdown)
{
    struct this_pool *pool = pool_of(shutdown);

    if (pool_state_may_become(pool->state, POOL_STOPPING))
        this_pool_enter(pool, POOL_STOPPING);
    enter_doors(shutdown);
}

static void give_up(struct shutdown *shutdown, const struct seat *seat)
{
    pool_of(shutdown)->exit_code = PROCESS_FAILED;
    if (seat->role == ROLE_DISPATCHER)
        end_without_dispatcher(shutdown);
    else
        shutdown_force(shutdown, "unusable");
}

void shutdown_follow(struct shutdown *shutdown, const struct seat *seat, int status,
                     enum shutdown_verdict verdict)
{
    switch (verdict) {
    case VERDICT_REPLACE:
    case VERDICT_LET_GO:
        break;
    case VERDICT_ALL_GIVEN_BACK:
        if (WEXITSTATUS(status) != PROCESS_OK)
            pool_of(shutdown)->exit_code = PROCESS_FAILED;
        end_without_dispatcher(shutdown);
        break;
    case VERDICT_UNUSABLE:
        give_up(shutdown, seat);
        break;
    }
    advance(shutdown);
}

void shutdown_note_cleared(struct shutdown *shutdown)
{
    if (shutdown->phase == PHASE_ORPHANS && !any_runs_but(shutdown->children, ROLES))
        finish(shutdown);
}
