/*
 * program.h - a program that runs: what goes in, what comes out, how it is stopped, how it ends.
 *
 *     program_start() -> running -> stopping (TERM, then KILL) -> clearing (what it left behind)
 *                                                                                  -> ended
 *
 * All of it happens in the loop. When a program has ended no process of it is left, except what it
 * may have handed to somebody outside.
 *
 * A program is there for one run, and there is one such at a time; or it stays from run to run, and
 * is spared when those that do not are cleared up after. What one that stays has started, and is
 * not the parent of any more, may be killed with what any other leaves behind.
 */
#ifndef WORKER_PROGRAM_H
#define WORKER_PROGRAM_H

#include "base/base.h"
#include "base/error.h"
#include "process/loop.h"
#include "process/orphans.h"
#include "process/spawn.h"

enum program_stream {
    STREAM_INPUT,
    STREAM_OUTPUT,
    STREAM_ERROR,
    STREAM_STEERING,
};

enum program_phase {
    PROGRAM_IDLE, /* not started, or finished with */
    PROGRAM_RUNNING,
    PROGRAM_CLEARING,
    PROGRAM_ENDED,
};

struct program_end {
    int exit_code; /* or -1 */
    int signal;    /* or 0 */
    usec_t wall;
    struct usage usage; /* of all that was waited for, what was left behind included */
};

/* Our end of one of its pipes. */
struct program_pipe {
    struct program *program;
    enum program_stream which;
    struct loop_watch watch; /* its descriptor is owned; -1 when closed */
};

/* All programs of this process. */
struct programs;
struct staying;

/* Zeroed, except for the members of the first paragraph. */
struct program {
    struct programs *programs;
    bool stays;       /* and its input is left open */
    int stream_count; /* how many of the streams it has; the others are closed there */
    void (*received)(void *context, enum program_stream stream, struct bytes data);
    void (*closed)(void *context, enum program_stream stream); /* by the program; may be NULL */
    void (*ended)(void *context);                              /* may be NULL */
    void *context;

    enum program_phase phase;
    bool is_stopping;
    usec_t started; /* boot time */
    struct program_end end;
    struct bytes unsent; /* of the input */
    bool failed;         /* this process cannot go on */
    struct error failure;

    struct child child;
    struct loop_watch child_watch;
    struct program_pipe pipes[SPAWN_FDS];
    struct loop_timer kill_timer, group_timer, clear_timer;
    usec_t clear_pause;
};

/* Makes this process the parent of all that is left behind. */
bool programs_open(struct loop *loop, struct programs **programs_out, struct error *err) MUST_CHECK;
void programs_close(struct programs **programs);

/* Those that stay, and others that are spared with them. */
struct staying *programs_staying(struct programs *programs);

/* Fills in the descriptors of `spawn`. The input must stay where it is until it is sent; it need
 * not be read. False when it could not be started and nothing ran, or when this process cannot go
 * on, as program_is_fatal() tells. program_finish() is called in any case. */
bool program_start(struct program *program, struct spawn *spawn, struct bytes input,
                   struct error *err) MUST_CHECK;

bool program_is_fatal(const struct error *err);

/* More input for one that stays, once all before it is sent. */
bool program_takes_input(const struct program *program);
bool program_send(struct program *program, struct bytes input, struct error *err) MUST_CHECK;
void program_close_input(struct program *program); /* what is not sent never will be */

/* How much of what was sent it has not read so far. */
size_t program_unread(const struct program *program);

/* TERM to its group now, KILL after `grace`; 0 is KILL at once. A further call can only bring the
 * KILL forward. True for the first call, unless it has just ended by itself. */
bool program_stop(struct program *program, usec_t grace);

/* What is still in its pipes once it has ended. */
void program_read_rest(struct program *program);

/* Closes what is open. Kills what still runs, so that nothing stays behind. */
void program_finish(struct program *program);

#endif
