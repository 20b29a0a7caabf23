/*
 * periodic.c - the loop of a process that wakes, makes one pass over the store, and sleeps.
 *
 * Woken by its timer, by the master's orders, and by who knows of a job that may be due soon.
 *
 *   what fails                         what happens
 *   the schema or the URL is wrong     exit, PROCESS_UNUSABLE
 *   the store is away                  the handle is closed; a new one is tried until it is back
 *   anything else                      exit, PROCESS_FAILED: the master starts the process again
 *
 * The handle is closed because the store that comes back may be another one: a file that was
 * replaced is seen only by opening it again.
 */
#include "periodic/periodic.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "job/lease.h"
#include "process/known_clocks.h"
#include "process/meters.h"
#include "process/outage.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "store/store.h"

#include <unistd.h>

#define KEPT_OPEN (5 * USEC_PER_SEC)
#define GLANCE    USEC_PER_SEC
#define HEED      (10 * USEC_PER_MSEC) /* and all that is said meanwhile is heeded by one pass */

struct runner {
    struct process *process;
    const struct periodic *periodic;
    struct store *store;     /* owned; NULL while it is away, or not needed for a while */
    struct timekeeper clock; /* of whichever store it is */
    struct outage outage;
    struct loop_timer timer;
    struct loop_watch due_watch;
    enum slot_state state;
    usec_t due; /* on clock_boot(): the next pass; it may come before, when it is wanted */
    int64_t passes;
    bool is_ready; /* the master has been told */
    bool was_open; /* the store may have heard of us */
};

/* A state that is entered again keeps its time. */
static void enter(struct runner *runner, enum slot_state state)
{
    if (runner->state == state)
        return;
    runner->state = state;
    scoreboard_set_state(runner->process->scoreboard, runner->process->slot, state);
}

static bool open_store(struct runner *runner, struct error *err)
{
    const struct config *config = runner->process->config;
    char caller[PROCESS_CALLER_SIZE];
    const struct store_options options = {
        .folder = config->folder,
        .migrate = config->pool.migrate,
        .max_payload = config->max_payload,
        .deadline = runner->periodic->deadline,
        .clock = &runner->clock,
        .caller = process_caller(runner->process, caller),
    };

    if (runner->store)
        return true;
    if (!store_open(runner->process->backend, &options, &runner->store, err))
        return error_prefix(err, "open the store");
    runner->was_open = true;
    return true;
}

/* Never within the step of the loop that calls this: whatever else waits there comes first. */
static void sleep_until(struct runner *runner, usec_t at)
{
    const usec_t now = clock_boot();

    loop_set_timer(runner->process->loop, &runner->timer, at > now ? at : now + 1);
}

static void wait_for_store(struct runner *runner, usec_t started, const struct error *err)
{
    const usec_t max_silence = runner->periodic->max_silence;
    usec_t at = outage_note(&runner->outage, err);

    if (max_silence > 0 && at > started + max_silence)
        at = started + max_silence;
    meters_add_store_error(runner->process->meters, err->code);
    store_close(&runner->store);
    enter(runner, SLOT_WAITING);
    sleep_until(runner, at);
}

static void meet_failure(struct runner *runner, usec_t started, const struct error *err)
{
    if (outage_may_pass(err))
        wait_for_store(runner, started, err);
    else
        process_stop(runner->process, process_fail(err));
}

static void meet_closed_store(struct runner *runner, usec_t started, const struct error *err)
{
    if (err->code != TH_E_SCHEMA && err->code != TH_E_INVALID) {
        meet_failure(runner, started, err);
        return;
    }
    log_error("store_unusable", "error=%s", err->text);
    process_stop(runner->process, PROCESS_UNUSABLE);
}

/* The master counts on a process that has made its first pass. */
static bool note_pass(struct runner *runner, struct error *err)
{
    outage_end(&runner->outage);
    enter(runner, SLOT_IDLE);
    if (runner->is_ready)
        return true;
    runner->is_ready = true;
    return process_ready(runner->process, err);
}

static void sleep_until_due(struct runner *runner)
{
    const usec_t glance = clock_boot() + GLANCE;

    sleep_until(runner, runner->periodic->is_wanted && glance < runner->due ? glance : runner->due);
}

/* A database has better uses for a connection that is not needed for a while. */
static void rest(struct runner *runner, usec_t next)
{
    runner->due = next;
    if (next > clock_boot() + KEPT_OPEN)
        store_close(&runner->store);
    sleep_until_due(runner);
}

/* Before anything is taken back by a clock that is not the database's any more. Often enough that
 * each beat does it, and that nobody is the last to learn of a step: see timekeeper.h. */
static bool follow_clock(struct runner *runner, struct error *err)
{
    const struct pool_config *pool = &runner->process->config->pool;
    const usec_t age = lease_renewal_interval(pool->heartbeat_interval, pool->lease) / 2;

    if (!store_follow_clock(runner->store, age, err))
        return error_prefix(err, "ask for the time");
    known_clock_keep(runner->process->known_clock, &runner->clock);
    return true;
}

static bool pass(struct runner *runner, usec_t *next_out, struct error *err)
{
    const struct periodic *periodic = runner->periodic;
    const usec_t begun_at = clock_boot();

    if (!periodic->pass(periodic->context, runner->store, next_out, err))
        return false;
    meters_add_store_work(runner->process->meters, periodic->work, begun_at);
    return true;
}

static void make_pass(struct runner *runner)
{
    const usec_t started = clock_boot();
    usec_t next = started;
    struct error err;

    /* Those that fail count, too: USR1 shows that the process is at work. */
    runner->passes++;
    scoreboard_count(runner->process->scoreboard, runner->process->slot, runner->passes);
    if (!open_store(runner, &err))
        meet_closed_store(runner, started, &err);
    else if (!follow_clock(runner, &err) || !pass(runner, &next, &err))
        meet_failure(runner, started, &err);
    else if (!note_pass(runner, &err))
        process_stop(runner->process, process_fail(&err));
    else
        rest(runner, next);
}

static void wake(void *context)
{
    struct runner *runner = context;
    const struct periodic *periodic = runner->periodic;
    const bool is_early = runner->state == SLOT_IDLE && clock_boot() < runner->due;

    if (is_early && periodic->is_wanted && !periodic->is_wanted(periodic->context))
        sleep_until_due(runner);
    else
        make_pass(runner);
}

/* Where the store is away, the pass that finds it again sees all. */
static void hear_due(void *context, unsigned events)
{
    struct runner *runner = context;
    const usec_t soon = clock_boot() + HEED;

    (void)events;
    if (runner->state != SLOT_IDLE || runner->due <= soon)
        return;
    runner->due = soon;
    sleep_until(runner, soon);
}

/* What is written there is never taken off: two processes listen to it. */
static bool watch_due(struct runner *runner, struct error *err)
{
    struct process *process = runner->process;

    if (process->due < 0)
        return true;
    runner->due_watch =
        (struct loop_watch){.fd = process->due, .call = hear_due, .context = runner};
    return loop_watch(process->loop, &runner->due_watch, LOOP_READ | LOOP_NEWS, err);
}

/* A store that is away gets one try. If it was never open, there is nothing to remove. */
static int leave(struct runner *runner)
{
    const struct periodic *periodic = runner->periodic;
    struct error err;

    if (!periodic->leave || !runner->was_open)
        return PROCESS_OK;
    if (!open_store(runner, &err) || !periodic->leave(periodic->context, runner->store, &err))
        return process_fail(&err);
    return PROCESS_OK;
}

static void obey(void *context, const struct order *order, int fd)
{
    struct runner *runner = context;

    if (fd >= 0)
        close(fd); /* comes with orders for the dispatcher only */
    if (order->kind != ORDER_EXIT && order->kind != ORDER_RETIRE)
        return;
    loop_clear_timer(runner->process->loop, &runner->timer);
    enter(runner, SLOT_STOPPING);
    process_stop(runner->process, order->kind == ORDER_EXIT ? leave(runner) : PROCESS_RETIRED);
}

int periodic_run(struct process *process, const struct periodic *periodic)
{
    struct runner runner = {
        .process = process,
        .periodic = periodic,
        .timer = {.call = wake, .context = &runner},
        .state = SLOT_STARTING,
        .clock = {.lease = process->config->pool.lease},
    };
    struct error err;

    if (!watch_due(&runner, &err))
        return process_fail(&err);
    known_clock_recall(process->known_clock, &runner.clock);
    process->obey = obey;
    process->context = &runner;
    sleep_until(&runner, clock_boot());
    const int exit_code = process_run(process);
    process->obey = NULL;
    process->context = NULL;
    loop_clear_timer(process->loop, &runner.timer);
    loop_unwatch(process->loop, &runner.due_watch);
    store_close(&runner.store);
    return exit_code;
}
