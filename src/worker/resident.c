/*
 * resident.c - a program that stays: one JSON line per job.
 *
 * program.c runs it, resident_line.c knows what is said, turn.c makes an outcome of it; what is
 * here gives it one job after the other. Between two jobs it stays watched: what it prints is
 * logged without a job, and its end is noticed.
 *
 * Invariants:
 *   - It has at most one job, and gets the next only when that has its answer. A line that does not
 *     fit ends the program: nobody could tell which job its next line is for.
 *   - Once a job has its answer, nothing that happens later in the same step changes it.
 *   - The pipes are watched as long as it lives: a job costs one write and one read.
 */
#include "worker/resident.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/log.h"
#include "process/loop.h"
#include "worker/answered.h"
#include "worker/ending.h"
#include "worker/output.h"
#include "worker/program.h"
#include "worker/resident_line.h"
#include "worker/restarts.h"
#include "worker/speech.h"
#include "worker/turn.h"
#include "worker/variables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TASK_MAX     (2 * JOB_PAYLOAD_MAX) /* as base64 it is a third longer */
#define TASK_KEPT    ((size_t)1 << 20)     /* of memory, for the next one */
#define END_PATIENCE (500 * USEC_PER_MSEC) /* for one whose pipe has closed to end by itself */
#define END_GRACE    (500 * USEC_PER_MSEC) /* and then, with its worker, for one that is told to */

struct resident {
    const struct resident_plan *plan;
    struct loop *loop;
    struct program program;
    struct turn slot;
    struct turn *turn; /* the slot, or NULL: it has no job */
    struct answered answered;
    struct buffer task;  /* the line for its job */
    struct buffer line;  /* of its stdout, so far */
    struct output error; /* its stderr */
    struct loop_timer deadline, patience;
    usec_t kill_grace;
    usec_t lines_allowed_at; /* in the log, between jobs */
    struct restarts restarts;
    bool is_closing;
};

/* ---- what it says ---- */

/* Ends one that broke the rules. */
static void accuse(struct resident *resident, const struct error *err)
{
    struct turn *turn = resident->turn;

    if (turn && turn_is_open(turn))
        turn->fault = arena_text(turn->arena, err->text);
    else
        log_warning("resident_fault", "handler=%s error=%s", resident->plan->name, err->text);
    program_stop(&resident->program, resident->kill_grace);
}

static bool is_blank(const struct buffer *line)
{
    return line->length == strspn(buffer_str(line), " \t\r");
}

static struct bytes line_of(const struct resident *resident)
{
    return (struct bytes){(unsigned char *)resident->line.data, resident->line.length};
}

static bool read_line(struct resident *resident, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct turn *turn = resident->turn;
    struct answer answer;

    if (!turn || turn->has_answer)
        return error_set(err, TH_E_INVALID, "nobody had asked");
    if (!resident_line_read(line_of(resident), turn->job->id, &arena, &answer, err))
        return false;
    turn_take(turn, &answer);
    if (turn->has_answer)
        answered_note(&resident->answered, turn->job->id);
    return true;
}

/* Said about a job that it has answered, while it has another, which goes on. */
static bool is_late(const struct resident *resident)
{
    const struct turn *turn = resident->turn;

    if (!turn || turn->has_answer ||
        !answered_concerns(&resident->answered, line_of(resident), turn->job->id))
        return false;
    log_warning("resident_fault", "handler=%s error=%s", resident->plan->name,
                "wrote a line about a job that it had answered: it is ignored");
    return true;
}

static void take_line(struct resident *resident)
{
    char shown[EXCERPT_SIZE];
    struct error err, fault;

    if (is_blank(&resident->line) || read_line(resident, &err) || is_late(resident))
        return;
    error_set(&fault, err.code, "wrote a line that is no answer: %s: %s", err.text,
              excerpt_of(resident->line.data, shown));
    accuse(resident, &fault);
}

/* Who has to end is not listened to. */
static bool is_deaf(const struct resident *resident)
{
    return resident->program.is_stopping || resident->line.failed ||
           (resident->turn && resident->turn->fault);
}

static void hear_output(struct resident *resident, struct bytes data)
{
    struct buffer *line = &resident->line;
    struct error err;

    while (data.length > 0 && !is_deaf(resident)) {
        const unsigned char *newline = memchr(data.data, '\n', data.length);
        const size_t length = newline ? (size_t)(newline - data.data) : data.length;

        buffer_add(line, data.data, length);
        if (!buffer_ok(line, &err)) {
            error_prefix(&err, "wrote a line that is no answer");
            accuse(resident, &err);
        }
        if (!newline || line->failed)
            return;
        take_line(resident);
        buffer_clear(line);
        data = (struct bytes){newline + 1, data.length - length - 1};
    }
}

static void hear_error_line(void *context, struct bytes line, uint64_t dropped)
{
    struct resident *resident = context;
    const struct turn *turn = resident->turn;
    char text[OUTPUT_LINE_MAX + 1];

    if (turn && turn->listener->line)
        turn->listener->line(turn->listener->context, true, line, dropped);
    else if (!turn && speech_is_allowed(&resident->lines_allowed_at, clock_boot()))
        log_info("resident_output", "handler=%s line=%s", resident->plan->name,
                 speech_text(line, text));
}

static void hear_error(struct resident *resident, struct bytes data)
{
    const struct turn *turn = resident->turn;

    if (turn && turn->listener->output)
        turn->listener->output(turn->listener->context, data);
    output_add(&resident->error, data);
}

static void hear(void *context, enum program_stream stream, struct bytes data)
{
    if (stream == STREAM_OUTPUT)
        hear_output(context, data);
    else
        hear_error(context, data);
}

/* ---- its end ---- */

/* It may be about to end: then its exit code says more. */
static void note_closed(void *context, enum program_stream stream)
{
    struct resident *resident = context;

    if (stream != STREAM_ERROR && !resident->patience.is_on)
        loop_set_timer(resident->loop, &resident->patience, clock_boot() + END_PATIENCE);
}

static void lose_patience(void *context)
{
    struct resident *resident = context;
    struct error err;

    if (resident->is_closing) {
        program_stop(&resident->program, END_GRACE);
        return;
    }
    error_set(&err, TH_E_INVALID, "closed its stdin or stdout");
    accuse(resident, &err);
}

static bool was_asked_to_end(const struct resident *resident)
{
    const struct turn *turn = resident->turn;

    return resident->is_closing || (turn && turn->stop != STOP_NONE && turn->stop != STOP_TIMEOUT);
}

static void note_death(struct resident *resident)
{
    if (!was_asked_to_end(resident))
        restarts_note_death(&resident->restarts, resident->program.end.wall,
                            resident->answered.count > 0, clock_boot());
}

static void note_in_turn(struct resident *resident)
{
    struct turn *turn = resident->turn;
    const struct program *program = &resident->program;

    turn->end = program->end;
    turn->is_dead = !turn->has_answer;
    turn->read_nothing = program_unread(program) == resident->task.length - program->unsent.length;
}

/* All that there is to know of one that has ended. */
static void bury(struct resident *resident)
{
    program_read_rest(&resident->program);
    output_end(&resident->error);
    if (resident->turn && resident->turn->is_given)
        note_in_turn(resident);
    note_death(resident);
    ending_log_resident(resident->plan->name, resident->program.child.pid, &resident->program.end,
                        resident->answered.count, was_asked_to_end(resident));
    loop_clear_timer(resident->loop, &resident->patience);
    buffer_clear(&resident->line);
    program_finish(&resident->program);
}

/* In the midst of a job, whoever waits for its answer looks after it. */
static void has_ended(void *context)
{
    struct resident *resident = context;

    if (!resident->turn)
        bury(resident);
}

/* ---- its start ---- */

static struct bytes task_of(const struct resident *resident)
{
    return (struct bytes){(unsigned char *)resident->task.data, resident->task.length};
}

static bool start(struct resident *resident, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct command *command = &resident->plan->command;
    const char *const *environment;

    if (!variables_build_lasting(command, resident->turn->job->pool_id, &arena, &environment, err))
        return false;
    struct spawn spawn = command_spawn(command, resident->plan->argv, environment);
    resident->answered = (struct answered){0};
    if (!program_start(&resident->program, &spawn, task_of(resident), err)) {
        program_finish(&resident->program);
        return false;
    }
    log_info("resident_started", "handler=%s pid=%d", resident->plan->name,
             (int)resident->program.child.pid);
    return true;
}

static bool start_if_due(struct resident *resident, struct error *err)
{
    return restarts_check(&resident->restarts, resident->plan->name, clock_boot(), err) &&
           start(resident, err);
}

static bool hand_over(struct resident *resident, struct error *err)
{
    struct program *program = &resident->program;

    turn_give(resident->turn);
    if (program->phase == PROGRAM_IDLE)
        return start_if_due(resident, err);
    resident->turn->cpu_before = clock_cpu_of(program->child.pid);
    return program_send(program, task_of(resident), err);
}

/* ---- a job ---- */

static void time_is_up(void *context)
{
    struct resident *resident = context;

    resident_stop(resident, STOP_TIMEOUT, resident->kill_grace);
}

static bool step(struct resident *resident, struct error *err)
{
    if (!loop_step(resident->loop, err))
        return false;
    if (resident->program.failed)
        *err = resident->program.failure;
    return !resident->program.failed;
}

static bool is_ending(const struct program *program)
{
    return program->phase == PROGRAM_CLEARING ||
           (program->phase == PROGRAM_RUNNING && program->is_stopping);
}

/* One that was told to end between two jobs may still be about to. */
static bool await_end(struct resident *resident, struct error *err)
{
    while (is_ending(&resident->program)) {
        if (!step(resident, err))
            return false;
    }
    if (resident->program.phase == PROGRAM_ENDED)
        bury(resident);
    return true;
}

static bool await_answer(struct resident *resident, struct error *err)
{
    while (resident->program.phase != PROGRAM_ENDED && !resident->turn->has_answer) {
        if (!step(resident, err))
            return false;
    }
    if (resident->program.phase == PROGRAM_ENDED)
        bury(resident);
    return true;
}

/* One that ended by itself after an answer, just before this job came, is started anew for it. */
static bool work(struct resident *resident, struct error *err)
{
    struct turn *turn = resident->turn;
    bool has_worked;

    if (!await_end(resident, err))
        return false;
    do {
        if (turn->stop != STOP_NONE)
            return true;
        if (!hand_over(resident, err) || !await_answer(resident, err))
            return false;
        has_worked = resident->answered.count > 0;
    } while (has_worked && turn_was_missed(turn));
    return true;
}

static bool work_and_judge(struct resident *resident, struct handler_report *report,
                           struct error *err)
{
    struct turn *turn = resident->turn;

    if (work(resident, err)) {
        turn_end(turn, &resident->program);
        turn_judge(turn, &resident->error.tail, report);
        return !report->arena.failed || error_no_memory(err);
    }
    if (program_is_fatal(err))
        return error_prefix(err, "run job %s", turn->job->id);
    handler_report_done(report);
    handler_report_unstarted(report, err);
    return true;
}

static void begin_turn(struct resident *resident, const struct handler_job *job)
{
    resident->kill_grace = job->kill_grace;
    resident->error.tail.total = 0;
    buffer_clear(&resident->task);
    resident_line_write(job, clock_wall(), &resident->task);
    if (job->timeout > 0)
        loop_set_timer(resident->loop, &resident->deadline, clock_boot() + job->timeout);
}

/* What it has not read of a job would be taken for the start of the next. */
static void check_input(struct resident *resident)
{
    struct program *program = &resident->program;
    struct error err;

    if (program->phase != PROGRAM_RUNNING || program->unsent.length == 0)
        return;
    error_set(&err, TH_E_INVALID, "answered before it had read its job");
    accuse(resident, &err);
    program_close_input(program);
}

static void end_turn(struct resident *resident)
{
    check_input(resident);
    loop_clear_timer(resident->loop, &resident->deadline);
    if (resident->task.capacity > TASK_KEPT)
        buffer_done(&resident->task);
    resident->turn = NULL;
}

bool resident_open(const struct resident_plan *plan, const struct handler_place *place,
                   struct resident **resident_out, struct error *err)
{
    struct resident *resident = calloc(1, sizeof *resident);

    if (!resident)
        return error_no_memory(err);
    *resident = (struct resident){
        .plan = plan,
        .loop = place->loop,
        .task = BUFFER(TASK_MAX),
        .line = BUFFER(RESIDENT_LINE_MAX),
        .error = {.line = hear_error_line, .context = resident},
        .deadline = {.call = time_is_up, .context = resident},
        .patience = {.call = lose_patience, .context = resident},
    };
    resident->program = (struct program){
        .programs = execution_programs(place->execution),
        .stays = true,
        .stream_count = STREAM_ERROR + 1,
        .received = hear,
        .closed = note_closed,
        .ended = has_ended,
        .context = resident,
    };
    *resident_out = resident;
    return true;
}

static void see_off(struct resident *resident)
{
    struct program *program = &resident->program;
    struct error err;

    if (program->phase == PROGRAM_IDLE)
        return;
    program_close_input(program);
    loop_set_timer(resident->loop, &resident->patience, clock_boot() + END_PATIENCE);
    while (program->phase != PROGRAM_IDLE && step(resident, &err)) {
    }
    loop_clear_timer(resident->loop, &resident->patience);
    program_finish(program);
}

void resident_close(struct resident **resident)
{
    if (!*resident)
        return;
    (*resident)->is_closing = true;
    see_off(*resident);
    buffer_done(&(*resident)->task);
    buffer_done(&(*resident)->line);
    free(*resident);
    *resident = NULL;
}

bool resident_run(struct resident *resident, const struct handler_job *job,
                  const struct handler_listener *listener, struct handler_report *report_out,
                  struct error *err)
{
    *report_out = (struct handler_report){0};
    resident->slot = turn_begin(resident->plan->name, job, listener, &report_out->arena);
    resident->turn = &resident->slot;
    begin_turn(resident, job);
    const bool ran = buffer_ok(&resident->task, err) && work_and_judge(resident, report_out, err);
    end_turn(resident);
    if (!ran)
        handler_report_done(report_out);
    return ran;
}

void resident_stop(struct resident *resident, enum execution_stop why, usec_t grace)
{
    struct turn *turn = resident->turn;

    assert(why != STOP_NONE);
    if (!turn || turn->has_answer)
        return;
    program_stop(&resident->program, grace);
    if (turn_is_open(turn))
        turn->stop = why;
}
