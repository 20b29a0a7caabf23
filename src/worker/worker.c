/*
 * worker.c - `thd: worker N`, runs handlers. It has no database and no credentials.
 *
 *     task ring (all workers) --start--> handler --> result (own ring or socket) --> finish
 *
 * Woken by a task, by the dispatcher's wish to halt a run, by the moment at which an unconfirmed
 * lease has to be given up, by what a resident says, and by the master.
 *
 * Commands and plugins are run one at a time, to their end. A resident may have several jobs: while
 * it has any, only its own are taken. A task of another handler at the head of the task ring stops
 * the intake until all of them have ended, or another worker has taken it.
 *
 * Invariants:
 *   - A job is run only after it was moved from handed to started in the lease table: whoever took
 *     it back meanwhile keeps it.
 *   - The result of a job that keeps the worker waiting is sent before the next one is taken, so a
 *     crash of the next cannot lose it.
 *   - A run ends before its lease can: its stop_at is looked up again each time it is reached.
 *     One whose lease is lost, or may be over, is killed at once.
 *   - When the master dies, everything that was started here dies first, and then the worker.
 */
#include "worker/worker.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "process/lease_table.h"
#include "process/message.h"
#include "process/orphans.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/scoreboard.h"
#include "process/task_ring.h"
#include "worker/handlers.h"
#include "worker/lifeline.h"
#include "worker/plugins.h"
#include "worker/reply.h"
#include "worker/worker_state.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEAR_PAUSE (USEC_PER_MSEC / 2)
#define LOOK_AGAIN  (50 * USEC_PER_MSEC) /* whether another worker has taken what is in the way */

/* What is lost runs elsewhere by now, or is about to. */
static usec_t grace_of(const struct worker *worker, enum stop_reason reason)
{
    return reason == STOP_LOST_LEASE ? 0 : worker->process->config->pool.kill_grace;
}

/* ---- what wakes it ---- */

static void hear_halts(void *context, unsigned events)
{
    struct worker *worker = context;
    struct error err;
    struct halt halt;

    (void)events;
    while (halt_receive(worker->process->results, &halt, &err) == DELIVERY_DONE) {
        struct run *run = runs_find(&worker->runs, halt.hold);

        if (run)
            worker_give_up(worker, run, halt.reason, grace_of(worker, halt.reason));
    }
}

static void hear_bell(void *context, unsigned events)
{
    struct worker *worker = context;

    (void)events;
    worker->has_heard = true;
    task_ring_hear(worker->process->task_ring);
}

static void look_again(void *context)
{
    (void)context; /* being awake is enough */
}

/* Another worker takes this place as soon as it is free. */
static void retire(struct worker *worker)
{
    worker->is_retiring = true;
    scoreboard_retire(worker->process->scoreboard, worker->process->slot);
}

static void obey(void *context, const struct order *order, int fd)
{
    struct worker *worker = context;

    assert((order->kind == ORDER_EXIT || order->kind == ORDER_RETIRE) && fd < 0);
    if (order->kind == ORDER_RETIRE) {
        retire(worker);
        return;
    }
    worker->ended = true;
    for (struct run *run = worker->runs.first; run; run = run->next)
        worker_give_up(worker, run, STOP_DRAIN, worker->process->config->pool.kill_grace);
}

/* Commands die with us by themselves, but not what they started. */
static void be_bereaved(void *context)
{
    struct usage usage = {0};
    struct error err;
    bool left = true;

    (void)context;
    while (left && orphans_kill(NULL, 0, &usage, &left, &err)) {
        if (left)
            clock_sleep(CLEAR_PAUSE);
    }
    _exit(PROCESS_FAILED);
}

/* ---- tasks ---- */

/* Starts one task, if there is one that may be taken now, and runs or begins it. */
static bool take_task(struct worker *worker, bool *taken_out, struct error *err)
{
    struct run *run = runs_spare(&worker->runs);

    if (!run)
        return error_no_memory(err);
    if (!intake_start(&worker->intake, &run->arena, &run->task, taken_out, err))
        return false;
    if (!*taken_out) {
        arena_done(&run->arena);
        return true;
    }
    runs_begin(&worker->runs, run);
    return worker_begin_run(worker, run, err);
}

/* No more than it may do before it is recycled. */
static bool wants_more(const struct worker *worker)
{
    const int64_t most = worker->process->config->pool.max_jobs_per_worker;

    return !worker->ended && !worker->process->has_stopped &&
           (most == 0 || worker->runs.done + (int64_t)worker->runs.count < most);
}

static bool was_taken_by_another(const struct worker *worker)
{
    switch (lease_table_state(worker->process->leases, worker->intake.blocker, NULL)) {
    case HOLD_STARTED:
    case HOLD_FINISHED:
        return true;
    case HOLD_FREE:
    case HOLD_HANDED:
    case HOLD_REVOKED:
    case HOLD_UNKNOWN:
        break;
    }
    return false;
}

/* Whether one more of what runs could be taken, if it were there. */
static bool has_room(struct worker *worker)
{
    const struct run *run = worker->runs.first;

    return !run || (run->handler && worker_may_take(worker, run->task.handler));
}

/* A worker that was woken for what it cannot take wakes another. */
static bool note_blocker(struct worker *worker, struct error *err)
{
    const bool has_heard = worker->has_heard;

    worker->has_heard = false;
    worker->is_blocked = !hold_equal(worker->intake.blocker, HOLD_NONE);
    return !worker->is_blocked || !has_heard || task_ring_wake(worker->process->task_ring, 1, err);
}

static bool take_tasks(struct worker *worker, struct error *err)
{
    bool taken = true;

    if (worker->is_blocked && worker->runs.count > 0 && !was_taken_by_another(worker))
        return true;
    worker->intake.blocker = HOLD_NONE;
    while (taken && wants_more(worker) && has_room(worker)) {
        if (!take_task(worker, &taken, err))
            return false;
    }
    return note_blocker(worker, err);
}

/* Says that it sleeps, looks once more, then sleeps. */
static bool wait_for_task(struct worker *worker, struct error *err)
{
    struct process *process = worker->process;
    bool waited = true;

    result_ring_set_asleep(process->result_rings, process->result_ring, true);
    if (!task_ring_has_more(process->task_ring)) {
        if (!worker->tasks.is_on)
            waited = loop_watch(process->loop, &worker->tasks, LOOP_READ | LOOP_ALONE, err);
        waited = waited && loop_step(process->loop, err);
    }
    result_ring_set_asleep(process->result_rings, process->result_ring, false);
    return waited;
}

/* Full, blocked, or about to end: what comes is for others. */
static bool wait_for_runs(struct worker *worker, struct error *err)
{
    struct loop *loop = worker->process->loop;

    loop_unwatch(loop, &worker->tasks);
    if (worker->is_blocked)
        loop_set_timer(loop, &worker->look_timer, clock_boot() + LOOK_AGAIN);
    const bool stepped = loop_step(loop, err);
    loop_clear_timer(loop, &worker->look_timer);
    return stepped;
}

static bool wait(struct worker *worker, struct error *err)
{
    if (worker->is_blocked || !wants_more(worker) || !has_room(worker))
        return wait_for_runs(worker, err);
    if (worker->runs.count > 0 && worker->is_hungry) {
        worker->is_hungry = false;
        if (!reply_ask_for_more(worker->process, err))
            return false;
    }
    return wait_for_task(worker, err);
}

static bool is_finished(const struct worker *worker)
{
    return worker->runs.count == 0 &&
           (worker->ended || worker->process->has_stopped || worker->is_retiring);
}

/* ---- its life ---- */

static void set_watches(struct worker *worker)
{
    struct process *process = worker->process;

    worker->tasks = (struct loop_watch){
        .fd = task_ring_bell(process->task_ring), .call = hear_bell, .context = worker};
    worker->results =
        (struct loop_watch){.fd = process->results, .call = hear_halts, .context = worker};
    worker->stop_timer = (struct loop_timer){.call = worker_check_leases, .context = worker};
    worker->look_timer = (struct loop_timer){.call = look_again};
    worker->intake = (struct intake){process, worker_may_take, worker, HOLD_NONE};
    process->obey = obey;
    process->bereaved = be_bereaved;
    process->context = worker;
}

static bool set_up(struct worker *worker, struct error *err)
{
    struct process *process = worker->process;
    const size_t handlers = process->handlers->count + 1;

    set_watches(worker);
    worker->states = calloc(handlers, sizeof *worker->states);
    worker->is_open = calloc(handlers, sizeof *worker->is_open);
    if (!worker->states || !worker->is_open)
        return error_no_memory(err);
    if (!runs_open(&worker->runs, process, err) ||
        !execution_open(process->loop, &worker->execution, err) ||
        !plugins_open(process, &worker->place.plugins, err))
        return false;
    worker->place.loop = process->loop;
    worker->place.execution = worker->execution;
    worker->place.process = process;
    worker->place.wants_stop = worker_wants_stop;
    worker->place.context = worker;
    lifeline_outside(process);
    return true;
}

static bool work(struct worker *worker, struct error *err)
{
    struct process *process = worker->process;

    if (!set_up(worker, err) || !loop_watch(process->loop, &worker->results, LOOP_READ, err) ||
        !process_ready(process, err))
        return false;
    scoreboard_set_state(process->scoreboard, process->slot, SLOT_IDLE);
    for (;;) {
        if (!worker_serve_runs(worker, err) || !take_tasks(worker, err))
            return false;
        if (is_finished(worker))
            return true;
        if (!wait(worker, err))
            return false;
    }
}

int worker_main(struct process *process)
{
    struct worker worker = {.process = process};
    struct error err;

    const bool worked = work(&worker, &err);
    worker_close_handlers(&worker);
    plugins_close(&worker.place.plugins);
    execution_close(&worker.execution);
    runs_close(&worker.runs);
    return worked ? process->exit_code : process_fail(&err);
}
