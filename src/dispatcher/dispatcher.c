/*
 * dispatcher.c - `thd: dispatcher`, the only process that reserves and settles for this pool.
 *
 *     collect    every result that the workers have sent meanwhile
 *     exchange   settle all of them and reserve as many jobs as there is room for
 *     hand out   the new jobs
 *
 * Woken by results, the store's bell, the time at which a queue's rate allows more, the
 * heartbeater's nudge, orders of the master, and a slow scan that is the safety net of the bell.
 * When the store is away results are kept and jobs run on; it is tried again with growing delay.
 *
 * Invariants:
 *   - A job is given to the store only by a settlement in the outbox; it stays there until the
 * store has answered.
 *   - A result is taken off its socket, and an entry of the lease table is freed, only after that.
 *   - So a dispatcher may die at any moment: the next one finds all of it (recovery.c).
 */
#include "dispatcher/dispatcher.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/aside.h"
#include "dispatcher/backing.h"
#include "dispatcher/conclude.h"
#include "dispatcher/exchange.h"
#include "dispatcher/handout.h"
#include "dispatcher/once.h"
#include "dispatcher/recovery.h"
#include "dispatcher/results.h"
#include "dispatcher/starts.h"
#include "dispatcher/state.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "process/start_board.h"
#include "process/tray.h"
#include "store/store.h"

#include <stdlib.h>
#include <unistd.h>

#define SCAN_INTERVAL (5 * USEC_PER_SEC)
#define LAST_TRIES    (3 * USEC_PER_SEC)  /* to give back what was stopped */
#define PACE          (4 * USEC_PER_MSEC) /* of exchanges, while no worker waits for one */

static void end(struct dispatcher *dispatcher, int exit_code)
{
    dispatcher->has_ended = true;
    dispatcher->exit_code = exit_code;
}

static void show_state(const struct dispatcher *dispatcher)
{
    const struct process *process = dispatcher->process;
    enum slot_state state = SLOT_IDLE;

    if (dispatcher->is_draining)
        state = SLOT_STOPPING;
    else if (!dispatcher->store || dispatcher->retry_at != 0)
        state = SLOT_WAITING;
    scoreboard_set_state(process->scoreboard, process->slot, state);
}

/* The master takes a dispatcher that does not turn any more for one that hangs. */
static void count_turn(struct dispatcher *dispatcher)
{
    const struct process *process = dispatcher->process;

    scoreboard_count(process->scoreboard, process->slot, ++dispatcher->turns);
}

/* ---- what wakes it ---- */

static void hear_nudge(void *context, unsigned events)
{
    struct dispatcher *dispatcher = context;
    uint64_t count;

    (void)events;
    if (read(dispatcher->process->nudge, &count, sizeof count) == (ssize_t)sizeof count)
        dispatcher->has_flags = true; /* or a result is in a tray, which is looked at anyway */
}

static void scan(void *context)
{
    struct dispatcher *dispatcher = context;

    queues_wake(&dispatcher->queues);
    dispatcher->wants_audit = true;
    dispatcher->doubts_bell = true;
    loop_set_timer(dispatcher->process->loop, &dispatcher->scan_timer,
                   clock_boot() + SCAN_INTERVAL);
}

static void wake_up(void *context)
{
    (void)context; /* being awake is enough */
}

static void stop_all(struct dispatcher *dispatcher)
{
    dispatcher->is_draining = true;
    dispatcher->is_stopping = true;
    dispatcher->give_up_at = clock_boot() + dispatcher->config->pool.kill_grace + LAST_TRIES;
    handout_halt_all(dispatcher);
    dispatcher->has_halts = true;
    loop_set_timer(dispatcher->process->loop, &dispatcher->give_up_timer, dispatcher->give_up_at);
}

/* Whatever was handed out may have woken nobody. */
static void ring_for_all(struct dispatcher *dispatcher)
{
    dispatcher->unrung = lease_table_capacity(dispatcher->process->leases);
}

static void obey(void *context, const struct order *order, int fd)
{
    struct dispatcher *dispatcher = context;
    struct error err;

    switch (order->kind) {
    case ORDER_WORKER_STARTED:
        dispatcher->has_halts = true;
        ring_for_all(dispatcher); /* it may sleep already, in a tray that we did not know of */
        if (!workers_add(&dispatcher->workers, order, fd, &err))
            end(dispatcher, process_fail(&err));
        return;
    case ORDER_WORKER_ENDED:
        workers_note_end(&dispatcher->workers, order, fd);
        return;
    case ORDER_PAUSE:
        dispatcher->is_paused = true;
        return;
    case ORDER_RESUME:
        dispatcher->is_paused = false;
        queues_wake(&dispatcher->queues);
        return;
    case ORDER_DRAIN:
        dispatcher->is_draining = true;
        return;
    case ORDER_STOP:
        stop_all(dispatcher);
        return;
    case ORDER_PULSE: /* process.c answers */
        return;
    case ORDER_EXIT:
        end(dispatcher, PROCESS_OK);
        return;
    case ORDER_RETIRE: /* all that we hold is in the table, the sockets and the store */
        end(dispatcher, PROCESS_RETIRED);
        return;
    }
}

/* ---- the store ---- */

/* What a dispatcher before this one handed out is in the table, whether or not it is known yet. */
static bool holds_nothing(const struct dispatcher *dispatcher)
{
    struct hold_view view;
    size_t position = 0;

    return dispatcher->flights.count == 0 && dispatcher->outbox.count == 0 &&
           !lease_table_next(dispatcher->process->leases, &position, &view);
}

/* A pool that has handed out nothing has nothing to mistake, and may start without those of its
 * queues that are away. */
static bool look_for_held(struct dispatcher *dispatcher, struct error *err)
{
    const bool may_wait = holds_nothing(dispatcher);

    dispatcher->wants_recovery = false;
    dispatcher->wants_recovery = !recovery_run(dispatcher, err);
    return !dispatcher->wants_recovery || (may_wait && outage_may_pass(err));
}

/* Nothing else is done before: a result whose job is not known yet would be taken for one of a job
 * that is settled. What was asked for before may have been on its way for so long that it comes to
 * the store after this look, so it is looked once more in a while. */
static bool recover(struct dispatcher *dispatcher, struct error *err)
{
    if (!backing_watch_bell(dispatcher, err) || !look_for_held(dispatcher, err))
        return false;
    dispatcher->has_recovered = true;
    if (!dispatcher->wants_recovery)
        dispatcher->recover_at = clock_boot() + SCAN_INTERVAL;
    dispatcher->wants_recovery = true;
    if (dispatcher->is_stopping)
        handout_halt_all(dispatcher);
    return true;
}

static bool is_unusable(const struct error *err)
{
    return err->code == TH_E_SCHEMA || err->code == TH_E_INVALID;
}

/* True when it may get better: it is tried again later. */
static bool bear_outage(struct dispatcher *dispatcher, struct error *err)
{
    if (!outage_may_pass(err))
        return false;
    backing_leave_bell(dispatcher);
    dispatcher->retry_at = outage_note(&dispatcher->outage, err);
    loop_set_timer(dispatcher->process->loop, &dispatcher->retry_timer, dispatcher->retry_at);
    return true;
}

static bool become_ready(struct dispatcher *dispatcher, struct error *err)
{
    dispatcher->retry_at = 0;
    queues_wake(&dispatcher->queues);
    if (dispatcher->is_ready)
        return true;
    dispatcher->is_ready = true;
    return process_ready(dispatcher->process, err);
}

/* Opens it when it is not open, and it is time to try. */
static bool keep_store(struct dispatcher *dispatcher, struct error *err)
{
    if (dispatcher->store && dispatcher->retry_at == 0)
        return true;
    if (dispatcher->retry_at > clock_boot())
        return true;
    if (!backing_open(dispatcher, err)) {
        if (!is_unusable(err))
            return bear_outage(dispatcher, err);
        log_error("store_unusable", "error=%s", err->text);
        end(dispatcher, PROCESS_UNUSABLE);
        return true;
    }
    if (!recover(dispatcher, err))
        return bear_outage(dispatcher, err);
    return become_ready(dispatcher, err);
}

/* ---- one turn ---- */

static bool quiet_bell(struct dispatcher *dispatcher, struct error *err)
{
    bool rang;

    if (!dispatcher->has_rung)
        return true;
    dispatcher->has_rung = false;
    if (!store_wait(dispatcher->store, 0, &rang, err))
        return false;
    if (rang)
        queues_wake(&dispatcher->queues);
    return true;
}

/* With each slow scan: a bell that has gone silent makes no sound. */
static bool look_after_store(struct dispatcher *dispatcher, struct error *err)
{
    if (!dispatcher->doubts_bell)
        return true;
    dispatcher->doubts_bell = false;
    backing_publish(dispatcher);
    return store_check_bell(dispatcher->store, err);
}

static bool check_waiting(struct dispatcher *dispatcher, struct error *err)
{
    if (dispatcher->is_paused || dispatcher->is_draining)
        return handout_take_back(dispatcher, err);
    return dispatcher->check_timer.is_on || handout_check(dispatcher, err);
}

/* While a job waits for a worker, or a probe is out, it is looked at now and then. */
static void set_check(struct dispatcher *dispatcher)
{
    if (dispatcher->check_timer.is_on)
        return;
    if (!conclude_probes(dispatcher) && !handout_is_waited_for(dispatcher))
        return;
    loop_set_timer(dispatcher->process->loop, &dispatcher->check_timer,
                   clock_boot() + HANDOUT_CHECK_INTERVAL);
}

static bool heed_flags(struct dispatcher *dispatcher, struct error *err)
{
    if (!dispatcher->has_flags)
        return true;
    dispatcher->has_flags = false;
    return handout_heed_flags(dispatcher, err);
}

static bool tell_halts(struct dispatcher *dispatcher, struct error *err)
{
    if (!dispatcher->has_halts)
        return true;
    dispatcher->has_halts = false;
    return handout_tell_halts(dispatcher, err);
}

static bool collect(struct dispatcher *dispatcher, struct error *err)
{
    if (!dispatcher->wants_audit)
        return results_collect(dispatcher, err);
    dispatcher->wants_audit = false;
    return results_audit(dispatcher, err);
}

static bool serve_workers(struct dispatcher *dispatcher, struct error *err)
{
    return heed_flags(dispatcher, err) && collect(dispatcher, err) &&
           check_waiting(dispatcher, err) && handout_send_rest(dispatcher, err) &&
           tell_halts(dispatcher, err);
}

/* Whether every worker has its next job waiting, and the last exchange was just now: then results
 * may gather a little, and one commit settles more of them. */
static bool has_time(const struct dispatcher *dispatcher)
{
    if (dispatcher->is_paused || dispatcher->is_draining ||
        clock_boot() >= dispatcher->last_exchange + PACE)
        return false;
    return flights_count(&dispatcher->flights, dispatcher->process->leases).waiting >=
           workers_count(&dispatcher->workers);
}

/* Once no queue is away any more. Others that are may still be asked: then after the next scan. */
static bool recover_rest(struct dispatcher *dispatcher, struct error *err)
{
    if (!dispatcher->wants_recovery || queues_miss_any(&dispatcher->queues) ||
        clock_boot() < dispatcher->recover_at)
        return true;
    dispatcher->recover_at = clock_boot() + SCAN_INTERVAL;
    dispatcher->wants_recovery = !recovery_run(dispatcher, err);
    return !dispatcher->wants_recovery || outage_may_pass(err);
}

static bool serve_store(struct dispatcher *dispatcher, struct error *err)
{
    dispatcher->is_pacing = dispatcher->has_exchanged = false;
    if (dispatcher->retry_at != 0)
        return true;
    if (!quiet_bell(dispatcher, err) || !look_after_store(dispatcher, err))
        return bear_outage(dispatcher, err);
    dispatcher->is_pacing = has_time(dispatcher);
    if (dispatcher->is_pacing) {
        loop_set_timer(dispatcher->process->loop, &dispatcher->pace_timer,
                       dispatcher->last_exchange + PACE);
        return true;
    }
    if (!aside_look(dispatcher, err) ||
        !exchange_run(dispatcher, &dispatcher->has_exchanged, err) ||
        !recover_rest(dispatcher, err))
        return bear_outage(dispatcher, err);
    if (!queues_are_away(&dispatcher->queues))
        outage_end(&dispatcher->outage);
    return true;
}

static bool is_all_done(struct dispatcher *dispatcher, bool *done_out, struct error *err)
{
    *done_out = false;
    if (!holds_nothing(dispatcher) || !queues_are_dry(&dispatcher->queues))
        return true;
    if (!once_is_over(dispatcher, done_out, err))
        return bear_outage(dispatcher, err);
    if (!*done_out)
        scan(dispatcher);
    return true;
}

static bool check_end(struct dispatcher *dispatcher, struct error *err)
{
    bool done = false;

    if (dispatcher->is_draining && holds_nothing(dispatcher))
        end(dispatcher, PROCESS_OK);
    if (dispatcher->has_ended)
        return true;
    if (dispatcher->give_up_at != 0 && clock_boot() >= dispatcher->give_up_at) {
        log_error("jobs_kept", "jobs=%zu error=%s", dispatcher->flights.count,
                  "could not give back all jobs: they return when their leases end");
        end(dispatcher, PROCESS_GAVE_UP);
    }
    if (!dispatcher->process->once || dispatcher->retry_at != 0 || !dispatcher->has_recovered)
        return true;
    if (!is_all_done(dispatcher, &done, err))
        return false;
    if (done)
        end(dispatcher, PROCESS_OK);
    return true;
}

static bool turn(struct dispatcher *dispatcher, struct error *err)
{
    count_turn(dispatcher);
    if (!keep_store(dispatcher, err))
        return false;
    show_state(dispatcher);
    if (dispatcher->has_ended)
        return true;
    if (!dispatcher->has_recovered)
        return tell_halts(dispatcher, err) && check_end(dispatcher, err);
    if (!serve_workers(dispatcher, err) || !serve_store(dispatcher, err))
        return false;
    set_check(dispatcher);
    return check_end(dispatcher, err);
}

/* Whether there may be something to do at once. While the store is away results are not in a hurry,
 * and keep their places. */
static bool has_news(const struct dispatcher *dispatcher)
{
    if (dispatcher->is_pacing)
        return !has_time(dispatcher);
    if (dispatcher->has_exchanged) /* which made room, and took its time */
        return true;
    return dispatcher->has_recovered && trays_have_news(dispatcher->process->trays);
}

/* Says that it sleeps, looks once more, then sleeps: whoever comes after that look wakes it. */
static bool sleep_a_while(struct dispatcher *dispatcher, struct error *err)
{
    struct process *process = dispatcher->process;

    trays_set_call(process->trays, dispatcher->is_pacing ? TRAY_PACING : TRAY_ASLEEP);
    const bool stepped =
        has_news(dispatcher) ? loop_glance(process->loop, err) : loop_step(process->loop, err);
    trays_set_call(process->trays, TRAY_AWAKE);
    return stepped;
}

static bool set_up(struct dispatcher *dispatcher, struct error *err)
{
    struct process *process = dispatcher->process;

    dispatcher->starts = calloc(dispatcher->config->handler_count + 1, sizeof(struct start));
    if (!dispatcher->starts)
        return error_no_memory(err);
    start_board_clear(process->start_board);
    dispatcher->workers.loop = process->loop;
    dispatcher->workers.trays = process->trays;
    ring_for_all(dispatcher); /* a dispatcher before may have died before it woke anybody */
    dispatcher->nudge =
        (struct loop_watch){.fd = process->nudge, .call = hear_nudge, .context = dispatcher};
    dispatcher->scan_timer = (struct loop_timer){.call = scan, .context = dispatcher};
    dispatcher->check_timer = (struct loop_timer){.call = wake_up};
    dispatcher->retry_timer = (struct loop_timer){.call = wake_up};
    dispatcher->give_up_timer = (struct loop_timer){.call = wake_up};
    dispatcher->pace_timer = (struct loop_timer){.call = wake_up};
    dispatcher->limit_timer = (struct loop_timer){.call = wake_up};
    dispatcher->has_flags = true; /* those that a dispatcher before this one did not see */
    process->obey = obey;
    process->context = dispatcher;
    scan(dispatcher);
    return flights_init(&dispatcher->flights, lease_table_capacity(process->leases), err) &&
           queues_init(&dispatcher->queues, dispatcher->config, err) &&
           loop_watch(process->loop, &dispatcher->nudge, LOOP_READ, err);
}

static void clean_up(struct dispatcher *dispatcher)
{
    backing_close(dispatcher);
    outbox_done(&dispatcher->outbox);
    flights_done(&dispatcher->flights);
    queues_done(&dispatcher->queues);
    workers_done(&dispatcher->workers);
    free(dispatcher->starts);
}

int dispatcher_main(struct process *process)
{
    struct dispatcher dispatcher = {.process = process, .config = process->config};
    struct error err;
    bool works = set_up(&dispatcher, &err);

    while (works && !dispatcher.has_ended && !process->has_stopped) {
        works = turn(&dispatcher, &err);
        if (works && !dispatcher.has_ended)
            works = sleep_a_while(&dispatcher, &err);
    }
    clean_up(&dispatcher);
    if (!works)
        return process_fail(&err);
    return process->has_stopped ? process->exit_code : dispatcher.exit_code;
}
