/*
 * resident.c - a program that stays: one JSON line per job.
 *
 * program.c runs it, feed.c has the lines on their way to it, resident_voice.c hears what it says,
 * turn.c makes an outcome of it; what is here gives it jobs and takes them back. Between two jobs
 * it stays watched: what it prints is logged without a job, and its end is noticed.
 *
 * Invariants:
 *   - It has no more jobs than any of their handlers allows.
 *   - A job that was not given to it waits for a program that is about to end; everything else is
 *     decided in resident_serve(), outside the loop's callbacks.
 *   - The pipes are watched as long as it lives: a job costs one write and one read.
 */
#include "worker/resident.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "worker/ending.h"
#include "worker/resident_line.h"
#include "worker/resident_state.h"
#include "worker/variables.h"

#include <assert.h>
#include <stdlib.h>

#define LINE_MAX     (2 * JOB_PAYLOAD_MAX) /* as base64 it is a third longer */
#define BACKLOG_MAX  ((size_t)1 << 20)     /* unread: then it gets no more jobs for now */
#define FEED_MAX     (LINE_MAX + 2 * BACKLOG_MAX)
#define END_PATIENCE (500 * USEC_PER_MSEC) /* for one whose pipe has closed to end by itself */
#define END_GRACE    (500 * USEC_PER_MSEC) /* and then, with its worker, for one that is told to */

/* ---- its end ---- */

static void end_program(struct resident *resident, enum stop_reason why, usec_t grace)
{
    if (why != STOP_TIMEOUT)
        resident->is_excused = true;
    program_stop(&resident->program, grace);
}

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
    resident_accuse(resident, &err);
}

/* A program that was of use and ended before it read a job is started again for that job. */
static void note_in_turn(struct resident *resident, struct turn *turn, uint64_t read)
{
    turn->end = resident->program.end;
    turn->is_dead = true;
    turn->read_nothing = read <= turn->line_from;
    if (turn_is_open(turn) && resident->program.is_stopping)
        turn_set_stop(turn, STOP_COMPANY);
    if (resident->answered.count > 0 && turn_was_missed(turn))
        turn->is_given = turn->is_dead = false;
}

static void note_in_turns(struct resident *resident)
{
    const uint64_t read = feed_read(&resident->feed, &resident->program);

    for (struct turn *turn = resident->first; turn; turn = turn->next) {
        if (turn->is_given && !turn->has_answer)
            note_in_turn(resident, turn, read);
    }
}

/* All that is to be known about one that has ended. */
static void bury(struct resident *resident)
{
    struct program *program = &resident->program;
    const bool was_asked_to = resident->is_closing || resident->is_excused;

    program_read_rest(program);
    output_end(&resident->error);
    note_in_turns(resident);
    if (!was_asked_to)
        restarts_note_death(&resident->restarts, program->end.wall, resident->answered.count > 0,
                            clock_boot());
    ending_log_resident(resident->plan->name, program->child.pid, &program->end,
                        resident->answered.count, was_asked_to);
    loop_clear_timer(resident->loop, &resident->patience);
    buffer_clear(&resident->line);
    program_finish(program);
}

/* While it has jobs, whoever serves them looks after it. */
static void has_ended(void *context)
{
    struct resident *resident = context;

    if (resident->count == 0)
        bury(resident);
}

/* ---- its start ---- */

static void give(struct turn *turn)
{
    struct resident *resident = turn->resident;

    turn_give(turn);
    turn->line_from = feed_end(&resident->feed);
    resident_line_write(turn->job, clock_wall(), feed_line(&resident->feed));
    turn->line_to = feed_end(&resident->feed);
    turn->cpu_before =
        resident->program.phase == PROGRAM_RUNNING ? clock_cpu_of(resident->program.child.pid) : 0;
}

static bool give_all(struct resident *resident, struct error *err)
{
    for (struct turn *turn = resident->first; turn; turn = turn->next) {
        if (!turn->is_given)
            give(turn);
    }
    return buffer_ok(feed_line(&resident->feed), err);
}

static bool start(struct resident *resident, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct command *command = &resident->plan->command;
    const char *const *environment;

    if (!restarts_check(&resident->restarts, resident->plan->name, clock_boot(), err) ||
        !variables_build_lasting(command, resident->first->job->pool_id, &arena, &environment, err))
        return false;
    resident->answered = (struct answered){0};
    resident->is_broken = resident->is_excused = false;
    feed_reset(&resident->feed);
    if (!give_all(resident, err))
        return false;
    struct spawn spawn = command_spawn(command, resident->plan->argv, environment);
    if (!program_start(&resident->program, &spawn, feed_first(&resident->feed), err)) {
        program_finish(&resident->program);
        return false;
    }
    log_info("resident_started", "handler=%s pid=%d", resident->plan->name,
             (int)resident->program.child.pid);
    return true;
}

/* What it would have been given is not to blame. */
static void fail_to_start(struct resident *resident, const struct error *err)
{
    while (resident->first) {
        struct handler_run *run = resident->first->run;

        handler_report_done(&run->report);
        handler_report_unstarted(&run->report, err);
        run->has_ended = true;
        resident_remove_turn(resident, resident->first);
    }
}

/* ---- a job ---- */

/* What it has not read of a job would be taken for the start of the next. */
static void check_input(struct resident *resident, const struct turn *turn)
{
    struct program *program = &resident->program;
    struct error err;

    if (program->phase != PROGRAM_RUNNING || feed_sent(&resident->feed, program) >= turn->line_to)
        return;
    error_set(&err, TH_E_INVALID, "answered before it had read its job");
    resident_accuse(resident, &err);
    program_close_input(program);
}

/* And one that has one job at a time would not know what to make of a wish to stop the last one. */
static void check_wish(struct resident *resident, const struct turn *turn)
{
    const struct program *program = &resident->program;

    if (turn->cancel_to > 0 && turn->concurrency == 1 && program->phase == PROGRAM_RUNNING &&
        feed_read(&resident->feed, program) < turn->cancel_to)
        end_program(resident, turn->stop, resident->kill_grace);
}

static bool end_turn(struct resident *resident, struct turn *turn, struct error *err)
{
    struct handler_report *report = &turn->run->report;

    if (turn->has_answer) {
        check_input(resident, turn);
        check_wish(resident, turn);
    }
    turn_end(turn, &resident->program);
    turn_judge(turn, report);
    turn->run->has_ended = true;
    const bool has_memory = !report->arena.failed;
    resident_remove_turn(resident, turn);
    return has_memory || error_no_memory(err);
}

static bool end_turns(struct resident *resident, struct error *err)
{
    for (struct turn *turn = resident->first, *next; turn; turn = next) {
        next = turn->next;
        if (turn_is_over(turn) && !end_turn(resident, turn, err))
            return false;
    }
    return true;
}

static bool has_waiting(const struct resident *resident)
{
    const struct turn *turn = resident->first;

    while (turn && turn->is_given)
        turn = turn->next;
    return turn != NULL;
}

/* One that is about to end gets nothing. */
static bool give_waiting(struct resident *resident, struct error *err)
{
    const struct program *program = &resident->program;

    if (!has_waiting(resident))
        return true;
    if (program->phase == PROGRAM_RUNNING)
        return program->is_stopping || give_all(resident, err);
    if (program->phase != PROGRAM_IDLE || start(resident, err))
        return true;
    if (program_is_fatal(err))
        return error_prefix(err, "run job %s", resident->first->job->id);
    fail_to_start(resident, err);
    return true;
}

/* ---- stopping one ---- */

static void ask_to_stop(struct turn *turn, enum stop_reason why, usec_t grace)
{
    struct resident *resident = turn->resident;

    if (!turn_is_open(turn))
        return;
    turn_set_stop(turn, why);
    if (!turn->is_given)
        return;
    resident_line_cancel(turn->job->id, feed_line(&resident->feed));
    turn->cancel_to = feed_end(&resident->feed);
    loop_set_timer(resident->loop, &turn->timer, clock_boot() + grace);
}

static void halt(struct turn *turn, enum stop_reason why, usec_t grace)
{
    assert(why != STOP_NONE);
    if (turn->has_answer)
        return;
    if (why == STOP_TIMEOUT || why == STOP_CANCEL) {
        ask_to_stop(turn, why, grace);
        return;
    }
    turn_set_stop(turn, why);
    if (turn->is_given)
        end_program(turn->resident, why, grace);
}

static void time_is_up(void *context)
{
    struct turn *turn = context;

    if (turn->stop == STOP_NONE)
        halt(turn, STOP_TIMEOUT, turn->resident->kill_grace);
    else
        end_program(turn->resident, turn->stop, 0);
}

/* ---- what others call ---- */

bool resident_open(const struct resident_plan *plan, const struct handler_place *place,
                   struct resident **resident_out, struct error *err)
{
    struct resident *resident = calloc(1, sizeof *resident);

    if (!resident)
        return error_no_memory(err);
    *resident = (struct resident){
        .plan = plan,
        .loop = place->loop,
        .line = BUFFER(RESIDENT_LINE_MAX),
        .error = {.line = resident_hear_error_line, .context = resident},
        .patience = {.call = lose_patience, .context = resident},
    };
    feed_init(&resident->feed, FEED_MAX);
    resident->program = (struct program){
        .programs = execution_programs(place->execution),
        .stays = true,
        .stream_count = STREAM_ERROR + 1,
        .received = resident_hear,
        .closed = note_closed,
        .ended = has_ended,
        .context = resident,
    };
    *resident_out = resident;
    return true;
}

static bool step(struct resident *resident, struct error *err)
{
    if (!loop_step(resident->loop, err))
        return false;
    if (resident->program.failed)
        *err = resident->program.failure;
    return !resident->program.failed;
}

static void see_off(struct resident *resident)
{
    struct program *program = &resident->program;
    struct error err;

    if (program->phase == PROGRAM_ENDED)
        bury(resident);
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
    resident_forget_turns(*resident);
    see_off(*resident);
    feed_done(&(*resident)->feed);
    buffer_done(&(*resident)->line);
    free(*resident);
    *resident = NULL;
}

bool resident_has_room(const struct resident *resident, const struct resident_plan *plan)
{
    const struct program *program = &resident->program;
    const size_t limit = plan->concurrency < resident->limit ? plan->concurrency : resident->limit;

    if (resident->count == 0)
        return true;
    return resident->count < limit && resident->asked == 0 && !resident->is_broken &&
           program->phase == PROGRAM_RUNNING && !program->is_stopping &&
           feed_end(&resident->feed) - feed_sent(&resident->feed, program) < BACKLOG_MAX;
}

bool resident_begin(struct resident *resident, const struct resident_plan *plan,
                    struct handler_run *run, struct error *err)
{
    struct turn *turn = calloc(1, sizeof *turn);

    if (!turn)
        return error_no_memory(err);
    run->has_ended = false;
    run->report = (struct handler_report){0};
    run->own = turn;
    turn_begin(turn, plan->name, run);
    turn->resident = resident;
    turn->concurrency = plan->concurrency;
    turn->timer = (struct loop_timer){.call = time_is_up, .context = turn};
    resident->kill_grace = run->job->kill_grace;
    resident_add_turn(resident, turn);
    if (run->job->timeout > 0)
        loop_set_timer(resident->loop, &turn->timer, turn->began + run->job->timeout);
    return resident_serve(resident, err);
}

void resident_halt(struct resident *resident, struct handler_run *run, enum stop_reason why,
                   usec_t grace)
{
    (void)resident;
    if (run->own)
        halt(run->own, why, grace);
}

bool resident_serve(struct resident *resident, struct error *err)
{
    const struct program *program = &resident->program;

    if (program->failed) {
        *err = program->failure;
        return error_prefix(err, "serve resident %s", resident->plan->name);
    }
    if (program->phase == PROGRAM_ENDED)
        bury(resident);
    return end_turns(resident, err) && give_waiting(resident, err) &&
           feed_push(&resident->feed, &resident->program, err);
}

bool resident_run(struct resident *resident, const struct resident_plan *plan,
                  const struct handler_job *job, const struct handler_listener *listener,
                  struct handler_report *report_out, struct error *err)
{
    struct handler_run run = {.job = job, .listener = listener};
    bool works = resident_begin(resident, plan, &run, err);

    while (works && !run.has_ended)
        works = loop_step(resident->loop, err) && resident_serve(resident, err);
    if (!works) {
        resident_forget_turns(resident);
        handler_report_done(&run.report);
    }
    *report_out = run.report;
    return works;
}

void resident_stop(struct resident *resident, enum stop_reason why, usec_t grace)
{
    for (struct turn *turn = resident->first; turn; turn = turn->next)
        halt(turn, why, grace);
}
