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
 *   - The store hears of a job's end only by a settlement in the outbox, which stays there until
 *     the store has answered.
 *   - Only then is a result taken off its ring or socket, and an entry of the lease table freed.
 *   - So a dispatcher may die at any moment: the next one finds all of it (recovery.c).
 */
#include "dispatcher/dispatcher.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/aside.h"
#include "dispatcher/conclude.h"
#include "dispatcher/exchange.h"
#include "dispatcher/handout.h"
#include "dispatcher/once.h"
#include "dispatcher/recovery.h"
#include "dispatcher/results.h"
#include "dispatcher/starts.h"
#include "dispatcher/state.h"
#include "dispatcher/store_handle.h"
#include "process/known_clocks.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/scoreboard.h"
#include "process/start_board.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define SCAN_INTERVAL (5 * USEC_PER_SEC)
#define LAST_TRIES    (3 * USEC_PER_SEC)  /* to give back what was stopped */
#define PACE          (4 * USEC_PER_MSEC) /* of exchanges, while no worker waits for one */

/* How long it rests after a turn. */
enum rest {
    REST_SLEEP,  /* until something wakes us */
    REST_PACING, /* a little, so that more results gather for the next exchange */
    REST_FLYING, /* until an answer comes, or enough has gathered for one more exchange */
    REST_NONE,   /* there was an exchange, which made room, and took its time */
};

static bool is_leaving(const struct dispatcher *dispatcher)
{
    return dispatcher->state == DISPATCHER_DRAINING || dispatcher->state == DISPATCHER_STOPPING;
}

static void show_state(const struct dispatcher *dispatcher)
{
    const struct process *process = dispatcher->process;
    enum slot_state state = SLOT_STOPPING;

    if (dispatcher->state == DISPATCHER_SERVING || dispatcher->state == DISPATCHER_PAUSED)
        state = dispatcher->store_state == STORE_ANSWERS ? SLOT_IDLE : SLOT_WAITING;
    scoreboard_set_state(process->scoreboard, process->slot, state);
}

/* The master takes a dispatcher that does not turn any more for one that hangs. */
static void count_turn(struct dispatcher *dispatcher)
{
    const struct process *process = dispatcher->process;

    scoreboard_count(process->scoreboard, process->slot, ++dispatcher->turns);
}

/* ---- what wakes it ---- */

/* From the heartbeater, or from a worker with a result: rings are looked at anyway. */
static void hear_nudge(void *context, unsigned events)
{
    struct dispatcher *dispatcher = context;
    uint64_t count;

    (void)events;
    if (read(dispatcher->process->nudge, &count, sizeof count) == (ssize_t)sizeof count)
        dispatcher_add(dispatcher, CHORE_HEED_FLAGS);
}

/* What a burst has taken is not kept for the next one. */
static void give_memory_back(struct dispatcher *dispatcher)
{
    if (!dispatcher->held_jobs.spare || !dispatcher_holds_nothing(dispatcher))
        return;
    held_jobs_trim(&dispatcher->held_jobs);
    outbox_trim(&dispatcher->outbox);
    flights_trim(&dispatcher->flights);
    malloc_trim(0);
}

static void scan(void *context)
{
    struct dispatcher *dispatcher = context;

    give_memory_back(dispatcher);
    queues_wake(&dispatcher->queues);
    dispatcher_add(dispatcher, CHORE_AUDIT);
    dispatcher_add(dispatcher, CHORE_PROVE_BELL);
    loop_set_timer(dispatcher->process->loop, &dispatcher->scan_timer,
                   clock_boot() + SCAN_INTERVAL);
}

static void wake_up(void *context)
{
    (void)context; /* being awake is enough */
}

/* An order that has no place in this state, as one to pause while we drain, changes nothing. */
static void follow(struct dispatcher *dispatcher, enum dispatcher_state to)
{
    if (dispatcher_state_may_change(dispatcher->state, to))
        dispatcher_enter(dispatcher, to);
}

static void stop_all(struct dispatcher *dispatcher)
{
    follow(dispatcher, DISPATCHER_STOPPING);
    dispatcher->give_up_at = clock_boot() + dispatcher->config->pool.kill_grace + LAST_TRIES;
    handout_halt_all(dispatcher);
    dispatcher_add(dispatcher, CHORE_TELL_HALTS);
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
        dispatcher_add(dispatcher, CHORE_TELL_HALTS);
        ring_for_all(dispatcher); /* it may sleep already, in a ring that we did not know of */
        if (!workers_add(&dispatcher->workers, order, fd, &err))
            dispatcher_end(dispatcher, process_fail(&err));
        return;
    case ORDER_WORKER_ENDED:
        workers_note_end(&dispatcher->workers, order, fd);
        return;
    case ORDER_PAUSE:
        follow(dispatcher, DISPATCHER_PAUSED);
        return;
    case ORDER_RESUME:
        follow(dispatcher, DISPATCHER_SERVING);
        queues_wake(&dispatcher->queues);
        return;
    case ORDER_DRAIN:
        follow(dispatcher, DISPATCHER_DRAINING);
        return;
    case ORDER_STOP:
        stop_all(dispatcher);
        return;
    case ORDER_PULSE: /* process.c answers */
    case ORDER_PEER:  /* for others */
        return;
    case ORDER_EXIT:
        dispatcher_end(dispatcher, PROCESS_OK);
        return;
    case ORDER_RETIRE: /* all that we hold is in the table, rings, sockets and store */
        dispatcher_end(dispatcher, PROCESS_RETIRED);
        return;
    }
}

/* ---- one turn ---- */

static bool check_waiting(struct dispatcher *dispatcher, struct error *err)
{
    if (dispatcher->state != DISPATCHER_SERVING)
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

static bool collect(struct dispatcher *dispatcher, struct error *err)
{
    return dispatcher_take(dispatcher, CHORE_AUDIT) ? results_audit(dispatcher, err)
                                                    : results_collect(dispatcher, err);
}

static bool serve_workers(struct dispatcher *dispatcher, struct error *err)
{
    return handout_heed_flags(dispatcher, err) && collect(dispatcher, err) &&
           check_waiting(dispatcher, err) && handout_send_rest(dispatcher, err) &&
           handout_tell_halts(dispatcher, err);
}

/* Whether every worker has its next job waiting, and the last exchange was just now: then results
 * may gather a little, and one commit settles more of them. */
static bool has_time(const struct dispatcher *dispatcher)
{
    if (dispatcher->state != DISPATCHER_SERVING || clock_boot() >= dispatcher->last_exchange + PACE)
        return false;
    return held_jobs_have_waiting(&dispatcher->held_jobs, dispatcher->process->leases,
                                  workers_count(&dispatcher->workers));
}

static bool exchange(struct dispatcher *dispatcher, enum rest *rest_out, struct error *err)
{
    bool exchanged = false;
    const bool served = aside_look(dispatcher, err) && exchange_run(dispatcher, &exchanged, err) &&
                        (dispatcher->flights.count > 0 || recovery_repeat(dispatcher, err));

    if (exchanged)
        *rest_out = REST_NONE;
    return served;
}

static void note_answer(struct dispatcher *dispatcher)
{
    if (!queues_are_away(&dispatcher->queues))
        outage_end(&dispatcher->outage);
}

/* The second exchange begins when enough has gathered for it, which only a timer can find out. */
static bool serve_flights(struct dispatcher *dispatcher, enum rest *rest_out, struct error *err)
{
    const struct flights *flights = &dispatcher->flights;
    const bool lands = flights->has_news;

    if (!exchange_go_on(dispatcher, err))
        return store_handle_lose(dispatcher, err);
    if (lands)
        note_answer(dispatcher);
    *rest_out = flights->count > 0 ? REST_FLYING : REST_NONE;
    if (flights->count > 0 && flights->count < FLIGHTS_MAX && !dispatcher->pace_timer.is_on)
        loop_set_timer(dispatcher->process->loop, &dispatcher->pace_timer,
                       clock_boot() + PACE / FLIGHTS_MAX);
    return true;
}

static bool serve_store(struct dispatcher *dispatcher, enum rest *rest_out, struct error *err)
{
    if (dispatcher->store_state != STORE_ANSWERS)
        return true;
    if (dispatcher->flights.count > 0)
        return serve_flights(dispatcher, rest_out, err);
    if (!store_handle_tend(dispatcher, err))
        return store_handle_lose(dispatcher, err);
    if (has_time(dispatcher)) {
        *rest_out = REST_PACING;
        loop_set_timer(dispatcher->process->loop, &dispatcher->pace_timer,
                       dispatcher->last_exchange + PACE);
        return true;
    }
    if (!exchange(dispatcher, rest_out, err))
        return store_handle_lose(dispatcher, err);
    if (dispatcher->flights.count == 0)
        note_answer(dispatcher);
    return true;
}

/* After the exchange: jobs that are ready go first, and what the store said of others is known. */
static bool tell_due(struct dispatcher *dispatcher, struct error *err)
{
    const uint64_t one = 1;

    if (!dispatcher_take(dispatcher, CHORE_TELL_DUE))
        return true;
    /* EAGAIN: the counter is full, so they have been told. */
    if (write(dispatcher->process->due, &one, sizeof one) < 0 && errno != EAGAIN)
        return error_errno(err, TH_E_INTERNAL, errno, "wake the scheduler");
    return true;
}

static bool is_all_done(struct dispatcher *dispatcher, bool *done_out, struct error *err)
{
    *done_out = false;
    if (!dispatcher_holds_nothing(dispatcher) || !queues_are_dry(&dispatcher->queues))
        return true;
    if (!once_is_over(dispatcher, done_out, err))
        return store_handle_lose(dispatcher, err);
    if (!*done_out)
        scan(dispatcher);
    return true;
}

static bool check_end(struct dispatcher *dispatcher, struct error *err)
{
    bool done = false;

    if (is_leaving(dispatcher) && dispatcher_holds_nothing(dispatcher))
        dispatcher_end(dispatcher, PROCESS_OK);
    if (dispatcher->state == DISPATCHER_ENDED)
        return true;
    if (dispatcher->give_up_at != 0 && clock_boot() >= dispatcher->give_up_at) {
        log_error("jobs_kept", "jobs=%zu error=%s", dispatcher->held_jobs.count,
                  "could not give back all jobs: they return when their leases end");
        dispatcher_end(dispatcher, PROCESS_GAVE_UP);
    }
    if (!dispatcher->process->once || dispatcher->store_state != STORE_ANSWERS)
        return true;
    if (!is_all_done(dispatcher, &done, err))
        return false;
    if (done)
        dispatcher_end(dispatcher, PROCESS_OK);
    return true;
}

static bool turn(struct dispatcher *dispatcher, enum rest *rest_out, struct error *err)
{
    *rest_out = REST_SLEEP;
    count_turn(dispatcher);
    if (!store_handle_keep(dispatcher, err))
        return false;
    show_state(dispatcher);
    if (dispatcher->state == DISPATCHER_ENDED)
        return true;
    if (dispatcher->store_state == STORE_UNSEEN)
        return handout_tell_halts(dispatcher, err) && check_end(dispatcher, err);
    dispatcher_read_clocks(dispatcher);
    if (!serve_workers(dispatcher, err) || !serve_store(dispatcher, rest_out, err) ||
        !tell_due(dispatcher, err))
        return false;
    set_check(dispatcher);
    return check_end(dispatcher, err);
}

/* Whether there may be something to do at once. Before the store has been seen, results stay where
 * they are. */
static bool has_news(const struct dispatcher *dispatcher, enum rest rest)
{
    switch (rest) {
    case REST_PACING:
        return !has_time(dispatcher);
    case REST_FLYING:
        return dispatcher->flights.has_news;
    case REST_NONE:
        return true;
    case REST_SLEEP:
        break;
    }
    return dispatcher->store_state != STORE_UNSEEN &&
           result_rings_have_news(dispatcher->process->result_rings);
}

/* How a worker with a result calls us. Not at all while an exchange is out: its answer wakes us,
 * and nothing can be done for a worker before. */
static enum result_call call_for(enum rest rest)
{
    switch (rest) {
    case REST_PACING:
        return RESULT_CALL_PACING;
    case REST_FLYING:
        return RESULT_CALL_AWAKE;
    case REST_SLEEP:
    case REST_NONE:
        break;
    }
    return RESULT_CALL_ASLEEP;
}

/* Says that it sleeps, looks once more, then sleeps: whoever comes after that look wakes it. */
static bool sleep_a_while(struct dispatcher *dispatcher, enum rest rest, struct error *err)
{
    struct process *process = dispatcher->process;

    result_rings_set_call(process->result_rings, call_for(rest));
    const bool stepped = has_news(dispatcher, rest) ? loop_glance(process->loop, err)
                                                    : loop_step(process->loop, err);
    result_rings_set_call(process->result_rings, RESULT_CALL_AWAKE);
    return stepped;
}

static bool set_up(struct dispatcher *dispatcher, struct error *err)
{
    struct process *process = dispatcher->process;

    dispatcher->starts = calloc(dispatcher->config->handler_count + 1, sizeof(struct start));
    if (!dispatcher->starts)
        return error_no_memory(err);
    start_board_clear(process->start_board);
    known_clock_recall(process->known_clock, &dispatcher->clock);
    dispatcher->workers.loop = process->loop;
    dispatcher->workers.result_rings = process->result_rings;
    ring_for_all(dispatcher); /* the one before us may have died before it woke anybody */
    dispatcher->nudge =
        (struct loop_watch){.fd = process->nudge, .call = hear_nudge, .context = dispatcher};
    dispatcher->scan_timer = (struct loop_timer){.call = scan, .context = dispatcher};
    dispatcher->check_timer = (struct loop_timer){.call = wake_up};
    dispatcher->retry_timer = (struct loop_timer){.call = wake_up};
    dispatcher->give_up_timer = (struct loop_timer){.call = wake_up};
    dispatcher->pace_timer = (struct loop_timer){.call = wake_up};
    dispatcher->limit_timer = (struct loop_timer){.call = wake_up};
    dispatcher_add(dispatcher, CHORE_HEED_FLAGS); /* those that the one before us did not see */
    dispatcher_add(dispatcher, CHORE_PUBLISH);
    process->obey = obey;
    process->context = dispatcher;
    scan(dispatcher);
    return held_jobs_init(&dispatcher->held_jobs, lease_table_capacity(process->leases), err) &&
           queues_init(&dispatcher->queues, dispatcher->config, err) &&
           flights_init(&dispatcher->flights, dispatcher->config->queue_count, err) &&
           loop_watch(process->loop, &dispatcher->nudge, LOOP_READ, err);
}

static void clean_up(struct dispatcher *dispatcher)
{
    store_handle_close(dispatcher);
    outbox_done(&dispatcher->outbox);
    flights_done(&dispatcher->flights);
    held_jobs_done(&dispatcher->held_jobs);
    queues_done(&dispatcher->queues);
    workers_done(&dispatcher->workers);
    free(dispatcher->starts);
}

/* The next dispatcher could not see what is under way. */
static void land_all(struct dispatcher *dispatcher)
{
    struct error err;

    while (dispatcher->flights.count > 0 && flights_land(dispatcher, &err))
        ;
}

int dispatcher_main(struct process *process)
{
    struct dispatcher dispatcher = {.process = process, .config = process->config};
    struct error err;
    bool works = set_up(&dispatcher, &err);
    enum rest rest;

    while (works && dispatcher.state != DISPATCHER_ENDED && !process->has_stopped) {
        works = turn(&dispatcher, &rest, &err);
        if (works && dispatcher.state != DISPATCHER_ENDED)
            works = sleep_a_while(&dispatcher, rest, &err);
    }
    if (works)
        land_all(&dispatcher);
    clean_up(&dispatcher);
    if (!works)
        return process_fail(&err);
    return process->has_stopped ? process->exit_code : dispatcher.exit_code;
}
