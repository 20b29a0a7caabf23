/*
 * command.c - runs a job as a command: a process per job.
 *
 * execution.c runs it, output.c and steering.c listen to it; what is here says what to run and what
 * its end means.
 */
#include "worker/command.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/gist.h"
#include "process/account.h"
#include "worker/ending.h"
#include "worker/execution.h"
#include "worker/output.h"
#include "worker/steering.h"
#include "worker/tail.h"
#include "worker/variables.h"

#include <assert.h>
#include <stdlib.h>

#define EXIT_DATA_ERROR        65  /* EX_DATAERR of sysexits.h */
#define EXIT_TEMPORARY_FAILURE 75  /* EX_TEMPFAIL */
#define EXIT_CANNOT_RUN        126 /* a shell: found, but not to be run */
#define EXIT_NOT_FOUND         127
#define QUICK                  USEC_PER_SEC
#define LINE_MAX_LENGTH        512
#define ERROR_MAX              ((size_t)GIST_MAX + STEERING_TEXT_SIZE + 128)

struct run {
    const struct command *command;
    const struct handler_job *job;
    const struct handler_listener *listener;
    struct output output, error; /* line by line */
    struct tail printed, both;   /* stdout; and stderr with it */
    struct gist said;            /* stderr */
    struct steering steering;
    struct execution_end end;
};

static void hear_output(void *context, struct bytes line, uint64_t dropped)
{
    const struct handler_listener *listener = context;

    if (listener->line)
        listener->line(listener->context, false, line, dropped);
}

static void hear_error(void *context, struct bytes line, uint64_t dropped)
{
    const struct handler_listener *listener = context;

    if (listener->line)
        listener->line(listener->context, true, line, dropped);
}

static void keep_output(struct run *run, struct bytes data)
{
    tail_add(&run->both, data);
    if (run->listener->output)
        run->listener->output(run->listener->context, data);
}

static void hear(void *context, enum program_stream stream, struct bytes data)
{
    struct run *run = context;

    switch (stream) {
    case STREAM_INPUT:
        return;
    case STREAM_OUTPUT:
        keep_output(run, data);
        tail_add(&run->printed, data);
        output_add(&run->output, data);
        return;
    case STREAM_ERROR:
        keep_output(run, data);
        gist_add(&run->said, data);
        output_add(&run->error, data);
        return;
    case STREAM_STEERING:
        steering_add(&run->steering, data);
        return;
    }
}

static void hear_progress(void *context, int percent, const char *text)
{
    const struct handler_listener *listener = ((const struct run *)context)->listener;

    if (listener->progress)
        listener->progress(listener->context, percent, text);
}

/* Whoever wrote the handler looks at its output, not at our log. */
static void hear_garbage(void *context, const char *problem)
{
    struct run *run = context;
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX_LENGTH);

    if (run->listener->garbage)
        run->listener->garbage(run->listener->context, problem);
    buffer_printf(&line, "%sthd: %s\n", tail_is_mid_line(&run->both) ? "\n" : "", problem);
    keep_output(run, (struct bytes){(unsigned char *)line.data, line.length});
}

static void run_init(struct run *run)
{
    run->printed = (struct tail){.size = TAIL_SIZE};
    run->both = (struct tail){.size = run->job->output_size};
    run->output = (struct output){.line = hear_output, .context = (void *)run->listener};
    run->error = (struct output){.line = hear_error, .context = (void *)run->listener};
    steering_init(&run->steering);
    run->steering.progress = hear_progress;
    run->steering.garbage = hear_garbage;
    run->steering.context = run;
}

static void run_done(struct run *run)
{
    tail_done(&run->printed);
    tail_done(&run->both);
    steering_done(&run->steering);
}

static bool is_listed(const struct command *command, int exit_code)
{
    for (size_t i = 0; i < command->dead_exit_code_count; i++) {
        if (command->dead_exit_codes[i] == exit_code)
            return true;
    }
    return false;
}

static bool shell_found_nothing(const struct run *run)
{
    const int code = run->end.exit_code;

    return !run->command->argv && (code == EXIT_CANNOT_RUN || code == EXIT_NOT_FOUND) &&
           run->end.wall < QUICK;
}

static enum outcome_kind kind_of_exit(const struct run *run)
{
    const int code = run->end.exit_code;

    if (code == EXIT_SUCCESS)
        return OUTCOME_DONE;
    if (code == EXIT_DATA_ERROR || is_listed(run->command, code))
        return OUTCOME_PERMANENT;
    if (code == EXIT_TEMPORARY_FAILURE)
        return OUTCOME_SNOOZED;
    return shell_found_nothing(run) ? OUTCOME_RELEASED : OUTCOME_FAILED;
}

static enum outcome_kind kind_of_ending(const struct run *run)
{
    if (run->end.signal != 0)
        return OUTCOME_FAILED;
    switch (run->steering.verdict) {
    case STEERING_DEAD:
        return OUTCOME_PERMANENT;
    case STEERING_SNOOZE:
        return OUTCOME_SNOOZED;
    case STEERING_NONE:
        return kind_of_exit(run);
    }
    abort(); /* a verdict of no known kind */
}

static enum outcome_kind kind_of(const struct run *run)
{
    return run->end.stop == STOP_NONE ? kind_of_ending(run) : stop_reason_outcome(run->end.stop);
}

static void say_why(const struct run *run, struct buffer *text)
{
    if (run->end.stop != STOP_NONE)
        ending_say_stop(text, run->end.stop, run->job->timeout);
    else if (run->end.signal != 0)
        ending_say_signal(text, run->end.signal);
    else if (run->steering.verdict == STEERING_DEAD && run->steering.reason[0] != '\0')
        buffer_text(text, run->steering.reason);
    else if (run->steering.verdict == STEERING_DEAD)
        buffer_text(text, "said to be dead");
    else
        buffer_printf(text, "exit code %d", run->end.exit_code);
}

/* Why, and then what it had to say about it. */
static const char *error_of(const struct run *run, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ERROR_MAX);

    say_why(run, &text);
    ending_add_words(&text, &run->said);
    arena->failed |= text.failed;
    return arena_text(arena, buffer_str(&text));
}

static struct bytes result_of(const struct run *run, enum outcome_kind kind, struct arena *arena)
{
    const struct buffer *said = &run->steering.result;

    if (run->steering.has_result)
        return arena_bytes(arena, (struct bytes){(unsigned char *)said->data, said->length});
    if (run->command->result_is_stdout && kind == OUTCOME_DONE)
        return tail_read(&run->printed, arena);
    return (struct bytes){0};
}

static usec_t snooze_of(const struct run *run)
{
    return run->steering.verdict == STEERING_SNOOZE ? run->steering.snooze_for
                                                    : run->command->base_delay;
}

static struct job_run record_of(const struct run *run)
{
    return (struct job_run){
        .execution = run->job->execution,
        .pool = run->job->pool_id,
        .worker = run->job->worker,
        .started_at = run->job->started_at,
        .wall = run->end.wall,
        .user = run->end.usage.user,
        .system = run->end.usage.system,
        .max_rss_kb = run->end.usage.max_rss_kb,
        .exit_code = run->end.exit_code,
        .signal = run->end.signal,
    };
}

static void judge(const struct run *run, struct handler_report *report)
{
    struct outcome *outcome = &report->outcome;

    outcome->kind = kind_of(run);
    outcome->run = record_of(run);
    outcome->output = tail_read(&run->both, &report->arena);
    outcome->result = result_of(run, outcome->kind, &report->arena);
    if (outcome->kind != OUTCOME_DONE)
        outcome->run.error = error_of(run, &report->arena);
    if (outcome->kind == OUTCOME_SNOOZED)
        outcome->snooze_for = snooze_of(run);
    report->could_not_start = outcome->kind == OUTCOME_RELEASED && run->end.stop == STOP_NONE;
    if (ending_is_error(outcome->kind) || report->could_not_start)
        outcome->error = outcome->run.error;
    if (report->could_not_start)
        outcome->run.started_at = 0;
    report->progress_percent = run->steering.progress_percent;
    report->progress_text = arena_text(&report->arena, run->steering.progress_text);
    report->output_bytes = run->both.total;
}

static void judge_unstarted(const struct handler_job *job, const struct error *err,
                            struct handler_report *report)
{
    arena_done(&report->arena); /* what was prepared for the start */
    handler_report_unstarted(report, err);
    report->outcome.run.execution = job->execution;
    report->outcome.run.pool = job->pool_id;
    report->outcome.run.worker = job->worker;
}

static struct execution_plan plan_of(struct run *run, const char *const *argv,
                                     const char *const *environment)
{
    return (struct execution_plan){
        .spawn = command_spawn(run->command, argv, environment),
        .input = run->job->payload,
        .timeout = run->job->timeout,
        .kill_grace = run->job->kill_grace,
        .received = hear,
        .context = run,
    };
}

static bool run_and_judge(struct run *run, struct execution *execution,
                          struct handler_report *report, struct error *err)
{
    const char *const shell[] = {"/bin/sh", "-c", run->command->shell, NULL};
    const char *const *argv = run->command->argv ? run->command->argv : shell;
    const char *const *environment;

    if (!variables_build(run->command, run->job, clock_wall(), &report->arena, &environment, err))
        return false;
    const struct execution_plan plan = plan_of(run, argv, environment);
    if (execution_run(execution, &plan, &run->end, err)) {
        output_end(&run->output);
        output_end(&run->error);
        steering_end(&run->steering);
        judge(run, report);
    } else if (!program_is_fatal(err)) {
        judge_unstarted(run->job, err, report);
    } else {
        return error_prefix(err, "run job %s", run->job->id);
    }
    return !report->arena.failed || error_no_memory(err);
}

struct spawn command_spawn(const struct command *command, const char *const *argv,
                           const char *const *environment)
{
    return (struct spawn){
        .argv = argv,
        .path = variables_get(environment, "PATH"),
        .environment = environment,
        .cwd = command->cwd,
        .umask = command->umask,
        .nice = command->nice,
        .limits = command->limits,
        .account = command->account,
        .may_gain_privileges = command->may_gain_privileges,
    };
}

bool command_run(const struct command *command, const struct handler_job *job,
                 struct execution *execution, const struct handler_listener *listener,
                 struct handler_report *report_out, struct error *err)
{
    CLEANUP(run_done) struct run run = {.command = command, .job = job, .listener = listener};

    assert(command->account && (command->argv || command->shell));
    run_init(&run);
    *report_out = (struct handler_report){0};
    if (run_and_judge(&run, execution, report_out, err))
        return true;
    handler_report_done(report_out);
    return false;
}
