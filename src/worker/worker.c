/*
 * worker.c - `thd: worker N`, runs handlers. It has no database and no credentials.
 *
 *     rack (all workers) --start--> handler --> result (own tray or socket) --> finish
 *
 * Woken by a task, by the dispatcher's wish to halt a run, by the moment at which an unconfirmed
 * lease has to be given up, and by the master.
 *
 * Invariants:
 *   - A job is run only after it was moved from handed to started in the lease table: whoever took
 *     it back meanwhile keeps it.
 *   - The result of a job is sent before the next one is taken, so a crash of the next cannot lose
 *     it.
 *   - A run ends before its lease can: its stop_at is looked up anew each time that it is reached.
 *     One whose lease is lost, or may be over, is killed at once.
 *   - When the master dies, everything that was started here dies first, and then the worker.
 */
#include "worker/worker.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "process/lease_table.h"
#include "process/message.h"
#include "process/orphans.h"
#include "process/process.h"
#include "process/rack.h"
#include "process/scoreboard.h"
#include "process/title.h"
#include "process/tray.h"
#include "worker/execution.h"
#include "worker/handler.h"
#include "worker/handlers.h"
#include "worker/intake.h"
#include "worker/lifeline.h"
#include "worker/middleware.h"
#include "worker/plugins.h"
#include "worker/recycling.h"
#include "worker/schema.h"
#include "worker/speech.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEAR_PAUSE (USEC_PER_MSEC / 2)

struct worker {
    struct process *process;
    struct handler_place place;
    struct execution *execution;   /* owned */
    void **states;                 /* owned; of each handler that was opened */
    bool *is_open;                 /* owned; each handler */
    const struct handler *handler; /* of what runs; NULL: it has not begun */
    struct loop_watch tasks, results;
    struct loop_timer stop_timer;
    struct hold hold; /* of what runs */
    bool is_running;
    enum execution_stop stop; /* of what runs, if it was asked to */
    int64_t jobs_done;
    bool is_retiring; /* take only what is in the socket */
    bool ended;       /* take no more jobs */
};

static void *state_of(const struct worker *worker, const struct handler *handler)
{
    return worker->states[handler - worker->process->handlers->items];
}

static void give_up(struct worker *worker, enum execution_stop why, usec_t grace)
{
    const struct handler *handler = worker->handler;

    if (handler)
        handler->kind->stop(state_of(worker, handler), &worker->place, why, grace);
}

/* What is lost runs elsewhere by now, or is about to. */
static usec_t grace_of(const struct worker *worker, enum halt_reason reason)
{
    return reason == HALT_LOST_LEASE ? 0 : worker->process->config->pool.kill_grace;
}

static enum execution_stop stop_of(enum halt_reason reason)
{
    switch (reason) {
    case HALT_CANCEL:
        return STOP_CANCEL;
    case HALT_LOST_LEASE:
        return STOP_LOST_LEASE;
    case HALT_DRAIN:
        return STOP_DRAIN;
    }
    assert(!"a reason of no known kind");
    return STOP_DRAIN;
}

static bool is_running(const struct worker *worker, const struct hold *hold)
{
    return worker->is_running && worker->hold.entry == hold->entry &&
           worker->hold.generation == hold->generation;
}

/* Whether the run shall stop, asked by one that keeps us from the loop. */
static enum execution_stop wants_stop(void *context)
{
    struct worker *worker = context;
    struct error err;
    struct halt halt;

    while (halt_receive(worker->process->results, &halt, &err) == DELIVERY_DONE) {
        if (is_running(worker, &halt.hold))
            worker->stop = stop_of(halt.reason);
    }
    if (worker->stop == STOP_NONE &&
        lease_table_stop_at(worker->process->leases, worker->hold) <= clock_boot())
        worker->stop = STOP_LOST_LEASE;
    return worker->stop;
}

/* The lease may have been confirmed since the timer was set. */
static void check_lease(void *context)
{
    struct worker *worker = context;
    const struct pool_config *pool = &worker->process->config->pool;
    const usec_t stop_at = lease_table_stop_at(worker->process->leases, worker->hold);
    const usec_t now = clock_boot();

    if (stop_at > now)
        loop_set_timer(worker->process->loop, &worker->stop_timer, stop_at);
    else
        give_up(worker, STOP_LOST_LEASE, lease_grace(stop_at, pool->lease, pool->kill_grace, now));
}

static void hear_halts(void *context, unsigned events)
{
    struct worker *worker = context;
    struct error err;
    struct halt halt;

    (void)events;
    while (halt_receive(worker->process->results, &halt, &err) == DELIVERY_DONE) {
        if (is_running(worker, &halt.hold))
            give_up(worker, stop_of(halt.reason), grace_of(worker, halt.reason));
    }
}

static void hear_bell(void *context, unsigned events)
{
    const struct worker *worker = context;

    (void)events;
    rack_hear(worker->process->rack);
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
    if (worker->is_running)
        give_up(worker, STOP_DRAIN, worker->process->config->pool.kill_grace);
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

/* A dispatcher that is away or busy leaves its end full: nothing else is to be done until it has
 * room, for the result must not be lost. */
static bool send_result(struct worker *worker, const struct result *result, struct error *err)
{
    struct loop *loop = worker->process->loop;
    enum delivery delivery = result_send(worker->process->results, result, err);

    while (delivery == DELIVERY_NONE) {
        if (!loop_watch(loop, &worker->results, LOOP_READ | LOOP_WRITE, err) ||
            !loop_step(loop, err) || !loop_watch(loop, &worker->results, LOOP_READ, err))
            return false;
        delivery = result_send(worker->process->results, result, err);
    }
    if (delivery == DELIVERY_CLOSED)
        return error_set(err, TH_E_INTERNAL, "nobody is there to take results");
    return delivery == DELIVERY_DONE;
}

/* Wakes the dispatcher if it wants to be. */
static bool tell_news(const struct worker *worker, struct error *err)
{
    const struct process *process = worker->process;
    const uint64_t one = 1;

    switch (trays_call(process->trays)) {
    case TRAY_AWAKE:
        return true;
    case TRAY_PACING:
        if (rack_has_more(process->rack))
            return true;
        break;
    case TRAY_ASLEEP:
        break;
    }
    if (write(process->nudge, &one, sizeof one) < 0 && errno != EAGAIN)
        return error_errno(err, TH_E_INTERNAL, errno, "wake the dispatcher");
    return true;
}

static bool give_result(struct worker *worker, const struct result *result, struct error *err)
{
    if (tray_put(worker->process->trays, worker->process->tray, result))
        return tell_news(worker, err);
    return send_result(worker, result, err);
}

static void show_job(const struct worker *worker, const struct task *task)
{
    const struct process *process = worker->process;
    char id[UUID_TEXT_SIZE];

    title_set("thd: %s %s %s", process->name, task->type, uuid_format(&task->id, id));
    scoreboard_set_job(process->scoreboard, process->slot, task->hold, &task->id, task->type);
}

static void show_idle(const struct worker *worker)
{
    const struct process *process = worker->process;

    title_set("thd: %s", process->name);
    scoreboard_count(process->scoreboard, process->slot, worker->jobs_done);
    scoreboard_set_state(process->scoreboard, process->slot, SLOT_IDLE);
}

static struct handler_job job_of(const struct worker *worker, const struct task *task,
                                 const char *id)
{
    return (struct handler_job){
        .id = id,
        .type = task->type,
        .queue = task->queue,
        .pool_id = worker->process->pool,
        .attempt = task->attempt,
        .max_attempts = task->max_attempts,
        .execution = task->execution,
        .payload = task->payload,
        .payload_is_json = task->is_json,
        .timeout = task->timeout,
        .kill_grace = worker->process->config->pool.kill_grace,
        .started_at = clock_wall() + task->clock_offset,
        .worker = worker->process->number,
    };
}

/* A handler that cannot be opened is tried again with its next job. */
static bool open_handler(struct worker *worker, const struct handler *handler, struct error *err)
{
    const size_t index = (size_t)(handler - worker->process->handlers->items);

    if (worker->is_open[index])
        return true;
    if (handler->kind->open &&
        !handler->kind->open(handler->prepared, &worker->place, &worker->states[index], err))
        return false;
    worker->is_open[index] = true;
    return true;
}

static void close_handlers(struct worker *worker)
{
    const struct worker_handlers *handlers = worker->process->handlers;

    for (size_t i = 0; worker->is_open && i < handlers->count; i++) {
        if (worker->is_open[i] && handlers->items[i].kind->close)
            handlers->items[i].kind->close(worker->states[i]);
    }
    free(worker->states);
    free(worker->is_open);
}

/* A machine that slept may have slept through the lease: the job may run elsewhere by now. */
static bool is_too_late(const struct worker *worker, const struct task *task)
{
    return lease_table_stop_at(worker->process->leases, task->hold) <= clock_boot();
}

static bool run_opened(struct worker *worker, const struct handler *handler,
                       const struct task *task, struct handler_report *report_out,
                       struct error *err)
{
    struct speech speech;

    speech_begin(&speech, worker->process, task);
    const struct handler_job job = job_of(worker, task, speech.id);
    const struct handler_listener listener = speech_listener(&speech);

    worker->handler = handler;
    worker->stop = STOP_NONE;
    loop_set_timer(worker->process->loop, &worker->stop_timer,
                   lease_table_stop_at(worker->process->leases, task->hold));
    const bool ran = middleware_run(handler, state_of(worker, handler), &worker->place, &job,
                                    &listener, report_out, err) &&
                     plugins_clear_up(&worker->place, handler, report_out, err);
    loop_clear_timer(worker->process->loop, &worker->stop_timer);
    worker->handler = NULL;
    speech_end(&speech);
    return ran;
}

/* A payload that does not fit cannot get better: its handler is not started. */
static bool refuse_payload(struct handler_report *report_out, struct error *err)
{
    if (err->code != TH_E_INVALID)
        return false;
    error_prefix(err, "payload does not fit the schema");
    handler_report_invalid(report_out, err);
    return true;
}

static bool run_handler(struct worker *worker, const struct task *task,
                        struct handler_report *report_out, struct error *err)
{
    const struct worker_handlers *handlers = worker->process->handlers;

    assert(task->handler < handlers->count);
    const struct handler *handler = &handlers->items[task->handler];
    if (is_too_late(worker, task)) {
        handler_report_released(report_out);
        return true;
    }
    if (handler->schema && !schema_check(handler->schema, task->payload, err))
        return refuse_payload(report_out, err);
    if (plugins_load_middleware(&worker->place, err) && open_handler(worker, handler, err))
        return run_opened(worker, handler, task, report_out, err);
    handler_report_unstarted(report_out, err);
    return true;
}

static bool run_and_report(struct worker *worker, const struct task *task, struct error *err)
{
    CLEANUP(handler_report_done) struct handler_report report = {0};

    if (!run_handler(worker, task, &report, err))
        return false;
    const struct result result = {
        .hold = task->hold,
        .outcome = report.outcome,
        .could_not_start = report.could_not_start,
    };
    return give_result(worker, &result, err);
}

static bool run_task(struct worker *worker, const struct task *task, struct error *err)
{
    struct process *process = worker->process;

    worker->hold = worker->place.hold = task->hold;
    worker->place.until = task->timeout > 0 ? clock_boot() + task->timeout : 0;
    worker->is_running = true;
    show_job(worker, task);
    if (!run_and_report(worker, task, err))
        return false;
    lease_table_finish(process->leases, task->hold, process->serial);
    worker->is_running = false;
    worker->jobs_done++;
    show_idle(worker);
    return true;
}

/* Starts one task, if there is one, and runs it. */
static bool take_task(struct worker *worker, bool *taken_out, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct task task;

    if (!intake_start(worker->process, &arena, &task, taken_out, err))
        return false;
    if (!*taken_out)
        return true;
    if (!run_task(worker, &task, err))
        return false;
    if (recycling_is_due(&worker->process->config->pool, worker->jobs_done))
        worker->ended = true;
    return true;
}

/* Says that it sleeps, looks once more, then sleeps. */
static bool wait_for_task(struct worker *worker, struct error *err)
{
    struct process *process = worker->process;
    bool waited = true;

    tray_set_asleep(process->trays, process->tray, true);
    if (!rack_has_more(process->rack)) {
        waited = loop_watch(process->loop, &worker->tasks, LOOP_READ | LOOP_ALONE, err) &&
                 loop_step(process->loop, err);
        loop_unwatch(process->loop, &worker->tasks);
    }
    tray_set_asleep(process->trays, process->tray, false);
    return waited;
}

static bool set_up(struct worker *worker, struct error *err)
{
    struct process *process = worker->process;
    const size_t handlers = process->handlers->count + 1;

    worker->tasks =
        (struct loop_watch){.fd = rack_bell(process->rack), .call = hear_bell, .context = worker};
    worker->results =
        (struct loop_watch){.fd = process->results, .call = hear_halts, .context = worker};
    worker->stop_timer = (struct loop_timer){.call = check_lease, .context = worker};
    process->obey = obey;
    process->bereaved = be_bereaved;
    process->context = worker;
    worker->states = calloc(handlers, sizeof *worker->states);
    worker->is_open = calloc(handlers, sizeof *worker->is_open);
    if (!worker->states || !worker->is_open)
        return error_no_memory(err);
    if (!execution_open(process->loop, &worker->execution, err) ||
        !plugins_open(process, &worker->place.plugins, err))
        return false;
    worker->place.loop = process->loop;
    worker->place.execution = worker->execution;
    worker->place.process = process;
    worker->place.wants_stop = wants_stop;
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
    show_idle(worker);
    while (!worker->ended && !process->has_stopped) {
        bool taken;

        if (!take_task(worker, &taken, err))
            return false;
        if (!taken && worker->is_retiring)
            return true;
        if (!taken && !wait_for_task(worker, err))
            return false;
    }
    return true;
}

int worker_main(struct process *process)
{
    struct worker worker = {.process = process};
    struct error err;

    const bool worked = work(&worker, &err);
    close_handlers(&worker);
    plugins_close(&worker.place.plugins);
    execution_close(&worker.execution);
    return worked ? process->exit_code : process_fail(&err);
}
