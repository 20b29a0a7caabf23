/*
 * worker_runs.c - the runs of a worker, from a started task to the result that is given away.
 *
 * What keeps the worker waiting has ended when it is begun; a resident's jobs end by and by.
 */
#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "process/lease_table.h"
#include "process/process.h"
#include "worker/handlers.h"
#include "worker/middleware.h"
#include "worker/plugins.h"
#include "worker/recycling.h"
#include "worker/reply.h"
#include "worker/schema.h"
#include "worker/worker_state.h"

#include <assert.h>
#include <stdlib.h>

static void *state_of(const struct worker *worker, const struct handler *handler)
{
    return worker->states[handler->home];
}

/* ---- stopping one ---- */

void worker_give_up(struct worker *worker, struct run *run, enum stop_reason why, usec_t grace)
{
    const struct handler *handler = run->handler;

    if (!handler)
        return;
    if (run->is_shared)
        handler->kind->sharing->halt(state_of(worker, handler), &run->run, why, grace);
    else
        handler->kind->stop(state_of(worker, handler), &worker->place, why, grace);
}

/* Whether the run has to stop, asked by one that keeps us from the loop. */
enum stop_reason worker_wants_stop(void *context)
{
    struct worker *worker = context;
    struct error err;
    struct halt halt;

    while (halt_receive(worker->process->results, &halt, &err) == DELIVERY_DONE) {
        if (runs_find(&worker->runs, halt.hold))
            worker->stop = halt.reason;
    }
    if (worker->stop == STOP_NONE &&
        lease_table_stop_at(worker->process->leases, worker->place.hold) <= clock_boot())
        worker->stop = STOP_LOST_LEASE;
    return worker->stop;
}

/* ---- leases ---- */

/* One timer for all of them: for the first that has to be given up. */
static void watch_lease(struct worker *worker, usec_t stop_at)
{
    if (!worker->stop_timer.is_on || stop_at < worker->stop_timer.at)
        loop_set_timer(worker->process->loop, &worker->stop_timer, stop_at);
}

/* It may have been confirmed since the timer was set. */
static void check_lease(struct worker *worker, struct run *run)
{
    const struct pool_config *pool = &worker->process->config->pool;
    const usec_t stop_at = lease_table_stop_at(worker->process->leases, run->task.hold);
    const usec_t now = clock_boot();

    if (run->is_given_up)
        return;
    if (stop_at > now) {
        watch_lease(worker, stop_at);
        return;
    }
    run->is_given_up = true;
    worker_give_up(worker, run, STOP_LOST_LEASE,
                   lease_grace(stop_at, pool->lease, pool->kill_grace, now));
}

void worker_check_leases(void *context)
{
    struct worker *worker = context;

    for (struct run *run = worker->runs.first; run; run = run->next)
        check_lease(worker, run);
}

/* ---- handlers ---- */

/* A handler that cannot be opened is tried again with its next job. */
static bool open_handler(struct worker *worker, const struct handler *handler, struct error *err)
{
    const size_t home = handler->home;

    if (worker->is_open[home])
        return true;
    if (handler->kind->open && !handler->kind->open(worker->process->handlers->items[home].prepared,
                                                    &worker->place, &worker->states[home], err))
        return false;
    worker->is_open[home] = true;
    return true;
}

void worker_close_handlers(struct worker *worker)
{
    const struct worker_handlers *handlers = worker->process->handlers;

    for (size_t i = 0; worker->is_open && i < handlers->count; i++) {
        if (worker->is_open[i] && handlers->items[i].kind->close)
            handlers->items[i].kind->close(worker->states[i]);
    }
    free(worker->states);
    free(worker->is_open);
}

/* Middleware keeps us waiting, whatever it is wrapped around. */
static bool is_shared(const struct worker *worker, const struct handler *handler)
{
    return handler->kind->sharing && worker->process->config->pool.middleware.count == 0;
}

/* Whether a job of this handler can be begun beside what runs. */
bool worker_may_take(void *context, size_t number)
{
    const struct worker *worker = context;
    const struct handler *handler = &worker->process->handlers->items[number];
    const struct run *run = worker->runs.first;

    assert(number < worker->process->handlers->count);
    if (!run)
        return true;
    return is_shared(worker, handler) && run->handler && run->handler->home == handler->home &&
           handler->kind->sharing->has_room(handler->prepared, state_of(worker, handler));
}

/* ---- a run ---- */

/* A machine that slept may have slept through the lease: the job may run elsewhere by now. */
static bool is_too_late(const struct worker *worker, const struct task *task)
{
    return lease_table_stop_at(worker->process->leases, task->hold) <= clock_boot();
}

static bool begin_shared(struct worker *worker, struct run *run, struct error *err)
{
    const struct handler *handler = run->handler;

    run->is_shared = true;
    worker->is_hungry = true;
    return handler->kind->sharing->begin(handler->prepared, state_of(worker, handler),
                                         &worker->place, &run->run, err);
}

static bool run_to_end(struct worker *worker, struct run *run, struct error *err)
{
    const struct handler *handler = run->handler;
    const struct task *task = &run->task;

    worker->place.hold = task->hold;
    worker->place.until = task->timeout > 0 ? clock_boot() + task->timeout : 0;
    worker->stop = STOP_NONE;
    run->run.has_ended = true;
    loop_unwatch(worker->process->loop, &worker->tasks); /* the bell is for those who can come */
    return middleware_run(handler, state_of(worker, handler), &worker->place, &run->job,
                          &run->listener, &run->run.report, err) &&
           plugins_clear_up(&worker->place, handler, &run->run.report, err);
}

static bool run_opened(struct worker *worker, struct run *run, const struct handler *handler,
                       struct error *err)
{
    run->handler = handler;
    watch_lease(worker, lease_table_stop_at(worker->process->leases, run->task.hold));
    return is_shared(worker, handler) ? begin_shared(worker, run, err)
                                      : run_to_end(worker, run, err);
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

static bool begin_run(struct worker *worker, struct run *run, struct error *err)
{
    const struct worker_handlers *handlers = worker->process->handlers;
    const struct task *task = &run->task;

    assert(task->handler < handlers->count);
    const struct handler *handler = &handlers->items[task->handler];
    run->run.has_ended = true;
    if (is_too_late(worker, task)) {
        handler_report_released(&run->run.report);
        return true;
    }
    if (handler->schema && !schema_check(handler->schema, task->payload, err))
        return refuse_payload(&run->run.report, err);
    plugins_begin_job(worker->place.plugins, task->hold);
    if (plugins_load_middleware(&worker->place, err) && open_handler(worker, handler, err))
        return run_opened(worker, run, handler, err);
    handler_report_unstarted(&run->run.report, err);
    return true;
}

static void recycle_if_due(struct worker *worker)
{
    if (!worker->ended && recycling_is_due(&worker->process->config->pool, worker->runs.done))
        worker->ended = true;
}

static bool end_run(struct worker *worker, struct run *run, struct error *err)
{
    struct process *process = worker->process;
    const struct hold hold = run->task.hold;
    const struct result result = {
        .hold = hold,
        .outcome = handler_report_outcome(&run->run.report),
        .could_not_start = run->run.report.could_not_start,
    };

    speech_end(&run->speech);
    if (!reply_give(process, &worker->results, &result, err))
        return false;
    lease_table_finish(process->leases, hold, process->serial);
    runs_end(&worker->runs, run);
    if (worker->runs.count == 0)
        loop_clear_timer(process->loop, &worker->stop_timer);
    recycle_if_due(worker);
    return true;
}

bool worker_begin_run(struct worker *worker, struct run *run, struct error *err)
{
    return begin_run(worker, run, err) && (!run->run.has_ended || end_run(worker, run, err));
}

/* Others may end while a result is given away: they come later. */
static bool end_runs(struct worker *worker, struct error *err)
{
    for (struct run *run = worker->runs.first, *next; run; run = next) {
        next = run->next;
        if (run->run.has_ended && !end_run(worker, run, err))
            return false;
    }
    return true;
}

/* What came of the last step of the loop. */
bool worker_serve_runs(struct worker *worker, struct error *err)
{
    const struct run *run = worker->runs.first;
    const struct handler *handler = run && run->is_shared ? run->handler : NULL;

    if (handler && !handler->kind->sharing->serve(state_of(worker, handler), err))
        return false;
    return end_runs(worker, err);
}
