/*
 * resident_trial.c - starts a resident, to see whether it stays.
 *
 * It is given one blank, which says nothing and cannot be a line. When the blank is gone from the
 * pipe the program has come as far as to read: no more can be asked of it without a job.
 */
#include "worker/resident_trial.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "config/config.h"
#include "process/loop.h"
#include "worker/command.h"
#include "worker/command_config.h"
#include "worker/output.h"
#include "worker/program.h"
#include "worker/speech.h"
#include "worker/variables.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE  (3 * USEC_PER_SEC)    /* for one that neither reads nor ends */
#define TICK      (10 * USEC_PER_MSEC)  /* between two looks at its input */
#define FAREWELL  (300 * USEC_PER_MSEC) /* to end by itself when its input is closed */
#define GRACE     (500 * USEC_PER_MSEC) /* and when it is told to */
#define POOL_NAME "check"

struct trial {
    struct loop *loop;
    struct program program;
    struct output error;
    char last[OUTPUT_LINE_MAX + 1]; /* line of its stderr that tells most */
    bool is_told;                   /* that one speaks of an error */
    struct loop_timer tick;
    usec_t stop_at; /* boot time; when waiting is over */
    bool is_seen;   /* it has read, or nobody waits for that any longer */
};

/* The last one that speaks of an error, else the last that is not blank: some languages end with
 * their version or with where they were. */
static void take_line(void *context, struct bytes line, uint64_t dropped)
{
    struct trial *trial = context;
    char text[OUTPUT_LINE_MAX + 1];

    (void)dropped;
    speech_text(line, text);
    const bool tells = strstr(text, "Error") != NULL;
    if (text_is_blank(text) || (trial->is_told && !tells))
        return;
    trial->is_told = tells;
    snprintf(trial->last, sizeof trial->last, "%s", text);
}

static void receive(void *context, enum program_stream stream, struct bytes data)
{
    struct trial *trial = context;

    if (stream == STREAM_ERROR)
        output_add(&trial->error, data);
}

static bool has_read(const struct trial *trial)
{
    return trial->program.unsent.length == 0 && program_unread(&trial->program) == 0;
}

static void note_end(void *context)
{
    struct trial *trial = context;

    trial->is_seen = trial->is_seen || has_read(trial);
    loop_stop(trial->loop);
}

/* First looks whether it reads, then gives it the time to end. */
static void look(void *context)
{
    struct trial *trial = context;
    const usec_t now = clock_boot();

    if (trial->is_seen) {
        program_stop(&trial->program, GRACE);
        return;
    }
    if (has_read(trial) || now >= trial->stop_at) {
        trial->is_seen = true;
        program_close_input(&trial->program);
        loop_set_timer(trial->loop, &trial->tick, now + FAREWELL);
        return;
    }
    loop_set_timer(trial->loop, &trial->tick, now + TICK);
}

static bool start(struct trial *trial, const struct handler_config *handler, struct arena *arena,
                  struct error *err)
{
    static const struct bytes blank = {(const unsigned char *)" ", 1};
    const char *const *environment;
    struct command command;

    if (!command_config_read(handler, &handler->resident, arena, &command, err) ||
        !variables_build_lasting(&command, POOL_NAME, arena, &environment, err))
        return false;
    struct spawn spawn = command_spawn(&command, handler->resident.argv, environment);
    if (!program_start(&trial->program, &spawn, blank, err))
        return false;
    trial->stop_at = clock_boot() + PATIENCE;
    look(trial);
    return true;
}

static bool judge(struct trial *trial, struct error *err)
{
    const struct program_end *end = &trial->program.end;
    const char *separator = trial->last[0] == '\0' ? "" : ": ";
    char name[SIGNAL_NAME_SIZE];

    if (trial->is_seen)
        return true;
    if (end->signal > 0)
        return error_set(err, TH_E_INVALID, "it was killed by %s before it read a job%s%s",
                         signal_name(end->signal, name), separator, trial->last);
    if (end->exit_code == 0)
        return error_set(err, TH_E_INVALID,
                         "it ended before it read a job: a resident stays and reads line by "
                         "line%s%s",
                         separator, trial->last);
    return error_set(err, TH_E_INVALID, "it ended with exit code %d before it read a job%s%s",
                     end->exit_code, separator, trial->last);
}

static bool run(struct trial *trial, const struct handler_config *handler, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const bool has_run = start(trial, handler, &arena, err) && loop_run(trial->loop, err);

    if (has_run) {
        program_read_rest(&trial->program);
        output_end(&trial->error);
    }
    loop_clear_timer(trial->loop, &trial->tick);
    program_finish(&trial->program);
    return has_run && judge(trial, err);
}

bool resident_trial(const struct handler_config *handler, struct error *err)
{
    struct trial trial = {.error = {.line = take_line, .context = &trial},
                          .tick = {.call = look, .context = &trial}};
    struct programs *programs = NULL;

    if (!loop_open(&trial.loop, err))
        return false;
    bool is_good = programs_open(trial.loop, &programs, err);
    if (is_good) {
        trial.program = (struct program){.programs = programs,
                                         .stays = true,
                                         .stream_count = STREAM_ERROR + 1,
                                         .received = receive,
                                         .ended = note_end,
                                         .context = &trial};
        is_good = run(&trial, handler, err);
    }
    programs_close(&programs);
    loop_close(&trial.loop);
    return is_good;
}
