/*
 * turn.c - one job in the hands of a resident, from its line to its outcome.
 */
#include "worker/turn.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "worker/ending.h"
#include "worker/handler.h"

#include <stdlib.h>
#include <string.h>

#define ERROR_MAX ((size_t)3 * GIST_MAX) /* why, and what it printed */

void turn_begin(struct turn *turn, const char *name, struct handler_run *run)
{
    turn->name = name;
    turn->run = run;
    turn->job = run->job;
    turn->listener = run->listener;
    turn->arena = &run->report.arena;
    turn->began = clock_boot();
    turn->percent = -1;
    turn->printed = (struct tail){.size = turn->job->output_size};
    turn->end = (struct program_end){.exit_code = JOB_NO_EXIT_CODE};
}

void turn_give(struct turn *turn)
{
    turn->is_given = true;
    turn->is_dead = false;
    turn->end = (struct program_end){.exit_code = JOB_NO_EXIT_CODE};
}

bool turn_is_open(const struct turn *turn)
{
    return !turn->has_answer && !turn->fault && turn->stop == STOP_NONE;
}

bool turn_listens(const struct turn *turn)
{
    return !turn->has_answer && !turn->fault &&
           (turn->stop == STOP_NONE || turn->stop == STOP_TIMEOUT || turn->stop == STOP_CANCEL);
}

bool turn_is_over(const struct turn *turn)
{
    return turn->has_answer || turn->is_dead || (turn->stop != STOP_NONE && !turn->is_given);
}

static void note_progress(struct turn *turn, const struct answer *answer)
{
    const size_t length = text_fit(answer->text, sizeof turn->text - 1);

    turn->percent = answer->percent;
    memcpy(turn->text, answer->text, length);
    turn->text[length] = '\0';
    if (turn->listener->progress)
        turn->listener->progress(turn->listener->context, turn->percent, turn->text);
}

static const char *keep_error(const char *error, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(GIST_MAX);

    gist_of(error, &text);
    arena->failed |= text.failed;
    return arena_text(arena, buffer_str(&text));
}

static void note_answer(struct turn *turn, const struct answer *answer)
{
    turn->has_answer = true;
    turn->answer = *answer;
    turn->answer.result = arena_bytes(turn->arena, answer->result);
    if (answer->error)
        turn->answer.error = keep_error(answer->error, turn->arena);
}

void turn_take(struct turn *turn, const struct answer *answer)
{
    if (answer->percent >= 0)
        note_progress(turn, answer);
    if (answer->kind != ANSWER_NONE)
        note_answer(turn, answer);
}

void turn_hear(struct turn *turn, struct bytes data, bool is_alone)
{
    gist_add(&turn->said, data);
    if (!is_alone)
        return;
    if (turn->listener->output)
        turn->listener->output(turn->listener->context, data);
    tail_add(&turn->printed, data);
}

bool turn_was_missed(const struct turn *turn)
{
    return turn_is_open(turn) && turn->is_dead && turn->read_nothing;
}

void turn_end(struct turn *turn, const struct program *program)
{
    const struct usage *usage = &turn->end.usage;
    const usec_t cpu = program->phase == PROGRAM_RUNNING ? clock_cpu_of(program->child.pid)
                                                         : usage->user + usage->system;

    turn->wall = clock_boot() - turn->began;
    turn->cpu = cpu > turn->cpu_before ? cpu - turn->cpu_before : 0;
}

static enum outcome_kind kind_of_answer(enum answer_kind kind)
{
    switch (kind) {
    case ANSWER_DONE:
        return OUTCOME_DONE;
    case ANSWER_FAILED:
        return OUTCOME_FAILED;
    case ANSWER_PERMANENT:
        return OUTCOME_PERMANENT;
    case ANSWER_SNOOZE:
        return OUTCOME_SNOOZED;
    case ANSWER_NONE:
        break;
    }
    abort(); /* it is none */
}

/* What is too late is too late; what was to be cancelled may have been done before. */
static bool answer_counts(const struct turn *turn)
{
    return turn->has_answer && (turn->stop == STOP_NONE ||
                                (turn->stop == STOP_CANCEL && turn->answer.kind == ANSWER_DONE));
}

static enum outcome_kind kind_of(const struct turn *turn)
{
    if (answer_counts(turn))
        return kind_of_answer(turn->answer.kind);
    if (turn->stop != STOP_NONE)
        return stop_reason_outcome(turn->stop);
    return turn_was_missed(turn) ? OUTCOME_RELEASED : OUTCOME_FAILED;
}

static void say_death(const struct turn *turn, struct buffer *text)
{
    if (turn->end.signal != 0) {
        buffer_text(text, "was ");
        ending_say_signal(text, turn->end.signal);
    } else {
        buffer_printf(text, "exited with code %d", turn->end.exit_code);
    }
    buffer_text(text, turn->read_nothing ? " before it read its job" : " before it answered");
}

static void say_why(const struct turn *turn, struct buffer *text)
{
    if (turn->stop != STOP_NONE) {
        ending_say_stop(text, turn->stop, turn->job->timeout);
        return;
    }
    buffer_printf(text, "resident %s ", turn->name);
    if (turn->fault)
        buffer_text(text, turn->fault);
    else
        say_death(turn, text);
}

static const char *error_of(const struct turn *turn, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ERROR_MAX);

    if (answer_counts(turn))
        return turn->answer.error ? turn->answer.error : "failed without a word";
    say_why(turn, &text);
    if (turn->answer.error)
        buffer_printf(&text, ": %s", turn->answer.error);
    else
        ending_add_words(&text, &turn->said);
    arena->failed |= text.failed;
    return arena_text(arena, buffer_str(&text));
}

static struct job_run record_of(const struct turn *turn)
{
    return (struct job_run){
        .execution = turn->job->execution,
        .pool = turn->job->pool_id,
        .worker = turn->job->worker,
        .started_at = turn_was_missed(turn) ? 0 : turn->job->started_at,
        .wall = turn->wall,
        .user = turn->cpu,
        .max_rss_kb = turn->end.usage.max_rss_kb,
        .exit_code = turn->has_answer ? JOB_NO_EXIT_CODE : turn->end.exit_code,
        .signal = turn->has_answer ? 0 : turn->end.signal,
    };
}

void turn_judge(const struct turn *turn, struct handler_report *report)
{
    struct outcome *outcome = &report->outcome;

    outcome->kind = kind_of(turn);
    outcome->run = record_of(turn);
    outcome->output = tail_read(&turn->printed, &report->arena);
    if (answer_counts(turn)) {
        outcome->result = turn->answer.result;
        outcome->snooze_for = turn->answer.snooze_for;
    }
    if (outcome->kind != OUTCOME_DONE)
        outcome->run.error = error_of(turn, &report->arena);
    report->could_not_start = turn_was_missed(turn);
    if (ending_is_error(outcome->kind) || report->could_not_start)
        outcome->error = outcome->run.error;
    report->progress_percent = turn->percent;
    report->progress_text = arena_text(&report->arena, turn->text);
    report->output_bytes = turn->printed.total;
}

void turn_done(struct turn *turn)
{
    tail_done(&turn->printed);
}
