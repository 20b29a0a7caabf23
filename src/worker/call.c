/*
 * call.c - one call into a plugin: what its context leads to, and what became of the job.
 */
#include "worker/call.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/gist.h"
#include "base/log.h"
#include "base/text.h"
#include "worker/ending.h"
#include "worker/inside.h"
#include "worker/output.h"
#include "worker/printed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNOOZE_MAX (365 * USEC_PER_DAY)
#define REASON_MAX (CALL_ERROR_SIZE + 128)

static struct call *call_of(struct th_context *context)
{
    return (struct call *)context;
}

/* What is not UTF-8 becomes '?': everybody after us takes text for text. */
static void clean(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        const struct bytes rest = {(unsigned char *)text, left};
        size_t length = text_character_length(rest);

        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
        left -= length;
    }
}

/* ---- what a plugin may say ---- */

/* Of a long one both ends are kept. */
static void keep_long_error(struct call *call, size_t length, const char *format, va_list arguments)
{
    CLEANUP(buffer_done) struct buffer kept = BUFFER(GIST_MAX);
    AUTO_FREE char *text = malloc(length + 1);

    if (!text)
        return;
    vsnprintf(text, length + 1, format, arguments);
    gist_of(text, &kept);
    snprintf(call->error, sizeof call->error, "%s", buffer_str(&kept));
}

static void say_error(struct th_context *context, const char *format, va_list arguments)
{
    struct call *call = call_of(context);
    va_list again;

    va_copy(again, arguments);
    const int length = vsnprintf(call->error, sizeof call->error, format, arguments);
    if (length > GIST_HEAD + GIST_TAIL)
        keep_long_error(call, (size_t)length, format, again);
    va_end(again);
    clean(call->error);
    call->has_error = true;
}

static void say_line(struct th_context *context, const char *format, va_list arguments)
{
    struct call *call = call_of(context);
    char text[OUTPUT_LINE_MAX + 1];

    if (!inside_is_worker())
        return;
    vsnprintf(text, sizeof text, format, arguments);
    clean(text);
    if (call->job) {
        printed_say(call, (struct bytes){(const unsigned char *)text, strlen(text)});
        return;
    }
    printed_collect(call);
    log_info("plugin_output", "plugin=%s line=%s", call->plugin, text);
}

static void say_progress(struct th_context *context, int percent, const char *text)
{
    struct call *call = call_of(context);
    const int within = percent < 0 ? 0 : percent;

    if (!call->job || !inside_is_worker())
        return;
    printed_collect(call);
    call->progress_percent = within > 100 ? 100 : within;
    snprintf(call->progress_text, sizeof call->progress_text, "%s", text ? text : "");
    clean(call->progress_text);
    if (call->listener->progress)
        call->listener->progress(call->listener->context, call->progress_percent,
                                 call->progress_text);
}

static bool say_result(struct th_context *context, const void *data, size_t size)
{
    struct call *call = call_of(context);

    if (size > JOB_RESULT_MAX || !call->job)
        return false;
    arena_done(&call->arena); /* the one before */
    call->result = arena_bytes(&call->arena, (struct bytes){data ? data : "", size});
    return !call->arena.failed;
}

static void say_snooze(struct th_context *context, double seconds)
{
    const double most = (double)SNOOZE_MAX / (double)USEC_PER_SEC;

    if (!(seconds > 0)) /* no number is not, either */
        seconds = 0;
    call_of(context)->snooze_for =
        seconds < most ? (usec_t)(seconds * (double)USEC_PER_SEC) : SNOOZE_MAX;
}

/* Whoever takes a wish to stop off the socket has to act on it. */
static bool ask_cancelled(struct th_context *context)
{
    if (!inside_is_worker())
        return true;
    printed_collect(call_of(context));
    return call_stop(call_of(context)) != STOP_NONE;
}

static enum th_outcome ask_next(struct th_context *context, const struct th_job *job)
{
    struct call *call = call_of(context);

    if (call->next)
        return call->next(call, job);
    snprintf(call->error, sizeof call->error, "th_next() is for middleware");
    call->has_error = true;
    return TH_RETRY;
}

static const struct th_api api = {
    .size = sizeof api,
    .error = say_error,
    .log = say_line,
    .progress = say_progress,
    .result = say_result,
    .snooze = say_snooze,
    .cancelled = ask_cancelled,
    .next = ask_next,
};

/* ---- the call ---- */

void call_init(struct call *call, const char *plugin, const struct handler_place *place)
{
    call->context.api = &api;
    call->plugin = plugin;
    call->place = place;
    call->job = NULL;
    call->listener = NULL;
    call->base_delay = 0;
    call->started_at = 0;
    call->next = NULL;
    call->has_error = false;
    call->arena = (struct arena){0};
    call->result = (struct bytes){0};
    call->snooze_for = -1;
    call->progress_percent = -1;
    call->progress_text[0] = '\0';
    call->output = (struct tail){.size = TAIL_SIZE};
}

void call_init_for_job(struct call *call, const char *plugin, const struct handler_place *place,
                       const struct handler_job *job, const struct handler_listener *listener,
                       usec_t base_delay)
{
    call_init(call, plugin, place);
    call->job = job;
    call->listener = listener;
    call->base_delay = base_delay;
    call->started_at = clock_boot();
    call->output.size = job->output_size;
}

void call_done(struct call *call)
{
    arena_done(&call->arena);
    tail_done(&call->output);
}

struct th_job call_job(const struct call *call)
{
    const struct handler_job *job = call->job;
    const struct bytes payload = job->payload;

    return (struct th_job){
        .id = job->id,
        .type = job->type,
        .queue = job->queue,
        .payload = payload.data ? (const char *)payload.data : "",
        .payload_size = payload.length,
        .attempt = job->attempt,
        .max_attempts = job->max_attempts,
        .execution = job->execution,
        .deadline = job->timeout > 0 ? (job->started_at + job->timeout) / USEC_PER_SEC : 0,
        .headers = job->headers,
    };
}

enum stop_reason call_stop(struct call *call)
{
    const struct handler_place *place = call->place;
    const enum stop_reason stop = call->job ? place->wants_stop(place->context) : STOP_NONE;

    if (stop == STOP_NONE && place->until != 0 && place->until <= clock_boot())
        return STOP_TIMEOUT;
    return stop;
}

/* ---- what became of the job ---- */

/* What was said holds, except for a failure: it may be the answer to a wish to stop. */
static enum outcome_kind kind_of(enum th_outcome outcome, enum stop_reason stop)
{
    switch (outcome) {
    case TH_DONE:
        return OUTCOME_DONE;
    case TH_DEAD:
        return OUTCOME_PERMANENT;
    case TH_SNOOZE:
        return OUTCOME_SNOOZED;
    case TH_RETRY:
        break;
    }
    return stop_reason_outcome(stop);
}

static void say_why(const struct call *call, enum stop_reason stop, struct buffer *text)
{
    if (stop == STOP_NONE) {
        if (!call->has_error)
            buffer_printf(text, "plugin %s gave no reason", call->plugin);
        return;
    }
    ending_say_stop(text, stop, call->job->timeout);
    if (stop == STOP_TIMEOUT)
        buffer_printf(text, " in plugin %s", call->plugin);
    if (call->has_error)
        buffer_text(text, ": ");
}

static const char *error_of(const struct call *call, enum stop_reason stop, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(REASON_MAX);

    say_why(call, stop, &text);
    if (call->has_error)
        buffer_text(&text, call->error);
    arena->failed |= text.failed;
    return arena_text(arena, buffer_str(&text));
}

static struct job_run run_of(const struct call *call)
{
    const struct handler_job *job = call->job;

    return (struct job_run){
        .execution = job->execution,
        .pool = job->pool_id,
        .worker = job->worker,
        .started_at = job->started_at,
        .wall = clock_boot() - call->started_at,
        .exit_code = JOB_NO_EXIT_CODE,
    };
}

static enum th_outcome check_outcome(struct call *call, enum th_outcome outcome)
{
    if ((unsigned)outcome <= TH_SNOOZE)
        return outcome;
    snprintf(call->error, sizeof call->error, "plugin %s returned %d, which is not an outcome",
             call->plugin, (int)outcome);
    call->has_error = true;
    return TH_RETRY;
}

static void add_error(struct call *call, struct handler_report *report, enum stop_reason stop)
{
    struct outcome *outcome = &report->outcome;

    outcome->run.error = error_of(call, stop, &report->arena);
    if (outcome->kind == OUTCOME_FAILED || outcome->kind == OUTCOME_PERMANENT)
        outcome->error = outcome->run.error;
}

bool call_report(struct call *call, enum th_outcome outcome, struct handler_report *report_out,
                 struct error *err)
{
    const enum th_outcome said = check_outcome(call, outcome);
    const enum stop_reason stop = said == TH_RETRY ? call_stop(call) : STOP_NONE;
    const usec_t snooze_for = call->snooze_for >= 0 ? call->snooze_for : call->base_delay;

    printed_collect(call);
    *report_out = (struct handler_report){
        .outcome = {.kind = kind_of(said, stop), .run = run_of(call)},
        .progress_percent = call->progress_percent,
        .progress_text = "",
        .output_bytes = call->output.total,
        .arena = call->arena, /* what the result is in; the report's from here on */
    };
    call->arena = (struct arena){0};
    report_out->outcome.result = call->result;
    report_out->outcome.output = tail_read(&call->output, &report_out->arena);
    if (call->progress_percent >= 0)
        report_out->progress_text = arena_text(&report_out->arena, call->progress_text);
    if (said == TH_SNOOZE)
        report_out->outcome.snooze_for = snooze_for;
    if (said == TH_RETRY || said == TH_DEAD || (said == TH_SNOOZE && call->has_error))
        add_error(call, report_out, stop);
    if (!report_out->arena.failed)
        return true;
    handler_report_done(report_out);
    return error_no_memory(err);
}
