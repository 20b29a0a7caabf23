/*
 * middleware.c - the plugins of pool.middleware, wrapped around every handler.
 *
 * The report of the handler is the report of the job, as long as the outermost middleware returns
 * what that report means. If it returns something else, that is what became of the job, and the
 * report keeps what the handler printed and used. What was stopped, or never started, stays so.
 */
#include "worker/middleware.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "worker/call.h"
#include "worker/inside.h"
#include "worker/plugins.h"
#include "worker/printed.h"

#include <stdio.h>
#include <stdlib.h>

/* The way of one job through the middleware. */
struct passage {
    struct call call; /* the first member: what all of the middleware gets */
    const struct plugin_use *uses;
    size_t count;
    size_t depth;   /* how many of them are being called now */
    size_t reached; /* the most that were */
    const struct handler *handler;
    void *state;
    bool has_report; /* the handler has run */
    struct handler_report report;
    bool failed; /* this worker cannot go on, as *err says */
    struct error *err;
};

static void enter(const struct passage *passage, size_t level)
{
    const struct handler_place *place = passage->call.place;

    inside_enter(place->process, passage->uses[level].id, place->hold, place->until);
}

/* What the report of a handler means to middleware. */
static enum th_outcome outcome_of(const struct handler_report *report)
{
    switch (report->outcome.kind) {
    case OUTCOME_DONE:
        return TH_DONE;
    case OUTCOME_PERMANENT:
    case OUTCOME_UNHANDLED:
    case OUTCOME_INVALID:
    case OUTCOME_UNSTARTABLE:
        return TH_DEAD;
    case OUTCOME_SNOOZED:
        return TH_SNOOZE;
    case OUTCOME_FAILED:
    case OUTCOME_RELEASED:
    case OUTCOME_CANCELLED:
    case OUTCOME_ASIDE:
        return TH_RETRY;
    }
    abort(); /* an outcome of no known kind */
}

/* A wish to stop that middleware was told of is not told again. */
static enum th_outcome run_handler(struct passage *passage, const struct th_job *seen)
{
    struct call *call = &passage->call;
    struct handler_job job = *call->job;

    if (call_stop(call) != STOP_NONE)
        return TH_RETRY;
    printed_collect(call);
    job.payload = (struct bytes){(const unsigned char *)seen->payload, seen->payload_size};
    inside_leave(call->place->process);
    passage->has_report =
        passage->handler->kind->run(passage->handler->prepared, passage->state, call->place, &job,
                                    call->listener, &passage->report, passage->err);
    passage->failed = !passage->has_report;
    return passage->failed ? TH_RETRY : outcome_of(&passage->report);
}

static enum th_outcome run_level(struct passage *passage, size_t level, const struct th_job *job)
{
    if (level == passage->count)
        return run_handler(passage, job);
    enter(passage, level);
    const enum th_outcome outcome =
        passage->uses[level].plugin->middleware(job, &passage->call.context);
    inside_return(passage->call.started_at);
    return (unsigned)outcome <= TH_SNOOZE ? outcome : TH_RETRY;
}

/* Of what it is handed only the payload counts: a copy may be of an older and shorter struct. */
static enum th_outcome step_in(struct call *call, const struct th_job *handed)
{
    struct passage *passage = (struct passage *)call;
    struct th_job job = call_job(call);
    const size_t level = passage->depth;

    inside_return(call->started_at); /* th_next() runs no handler in a child, either */
    if (level < passage->reached) {
        snprintf(call->error, sizeof call->error, "th_next() was called twice in plugin %s",
                 passage->uses[level - 1].name);
        call->has_error = true;
        return TH_RETRY;
    }
    passage->depth = passage->reached = level + 1;
    job.payload = handed->payload;
    job.payload_size = handed->payload_size;
    const enum th_outcome outcome = run_level(passage, level, &job);
    passage->depth = level;
    if (level > 0)
        enter(passage, level - 1);
    return outcome;
}

static bool stands(const struct passage *passage, enum th_outcome outcome)
{
    const struct handler_report *report = &passage->report;

    return passage->has_report &&
           (outcome_of(report) == outcome || report->could_not_start ||
            report->outcome.kind == OUTCOME_RELEASED || report->outcome.kind == OUTCOME_CANCELLED);
}

/* What middleware has said beside the handler's own words. */
static bool add_words(struct passage *passage, struct error *err)
{
    struct handler_report *report = &passage->report;
    struct handler_report own;

    if (passage->call.output.total == 0 || report->outcome.output.length > 0)
        return true;
    if (!call_report(&passage->call, TH_DONE, &own, err))
        return false;
    report->outcome.output = arena_bytes(&report->arena, own.outcome.output);
    report->output_bytes = own.output_bytes;
    handler_report_done(&own);
    return !report->arena.failed || error_no_memory(err);
}

/* Middleware has decided otherwise than the handler. */
static bool overrule(struct passage *passage, enum th_outcome outcome, struct error *err)
{
    const struct handler_report *inner = &passage->report;
    struct handler_report report;

    if (!call_report(&passage->call, outcome, &report, err))
        return false;
    if (passage->has_report) {
        const char *why = report.outcome.run.error;

        report.outcome.run = inner->outcome.run;
        report.outcome.run.error = why;
        report.outcome.output = arena_bytes(&report.arena, inner->outcome.output);
        if (report.progress_percent < 0) {
            report.progress_percent = inner->progress_percent;
            report.progress_text = arena_text(&report.arena, inner->progress_text);
        }
        handler_report_done(&passage->report);
    }
    passage->report = report;
    passage->has_report = true;
    return !report.arena.failed || error_no_memory(err);
}

bool middleware_run(const struct handler *handler, void *state, const struct handler_place *place,
                    const struct handler_job *job, const struct handler_listener *listener,
                    struct handler_report *report_out, struct error *err)
{
    struct passage passage;

    passage.uses = plugins_middleware(place->plugins, &passage.count);
    if (passage.count == 0)
        return handler->kind->run(handler->prepared, state, place, job, listener, report_out, err);
    call_init_for_job(&passage.call, passage.uses[0].name, place, job, listener,
                      handler->config->retry.base_delay);
    passage.call.next = step_in;
    passage.depth = passage.reached = 0;
    passage.handler = handler;
    passage.state = state;
    passage.has_report = passage.failed = false;
    passage.report = (struct handler_report){0};
    passage.err = err;

    const struct th_job seen = call_job(&passage.call);
    const enum th_outcome outcome = step_in(&passage.call, &seen);
    inside_leave(place->process);
    printed_collect(&passage.call);
    const bool worked =
        !passage.failed &&
        (stands(&passage, outcome) ? add_words(&passage, err) : overrule(&passage, outcome, err));
    call_done(&passage.call);
    if (!worked)
        handler_report_done(&passage.report);
    *report_out = passage.report;
    return worked;
}
