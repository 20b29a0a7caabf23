/*
 * resident_state.h - what is known of a resident, for the files that it is made of: resident.c
 * gives it jobs and takes them back, resident_turns.c has the list of them, resident_voice.c hears
 * what it says.
 */
#ifndef WORKER_RESIDENT_STATE_H
#define WORKER_RESIDENT_STATE_H

#include "base/base.h"
#include "base/buffer.h"
#include "process/loop.h"
#include "worker/answered.h"
#include "worker/feed.h"
#include "worker/output.h"
#include "worker/program.h"
#include "worker/resident.h"
#include "worker/restarts.h"
#include "worker/turn.h"

struct resident {
    const struct resident_plan *plan; /* of the first handler that it is for */
    struct loop *loop;
    struct program program;
    struct turn *first; /* owned; its jobs, the oldest first */
    size_t count;       /* of them */
    size_t asked;       /* and how many of those have to stop */
    size_t limit;       /* the smallest concurrency of those */
    struct answered answered;
    struct feed feed;    /* lines for it */
    struct buffer line;  /* of its stdout, so far */
    struct output error; /* its stderr */
    struct loop_timer patience;
    usec_t kill_grace;
    usec_t lines_allowed_at; /* in the log, with several jobs or with none */
    struct restarts restarts;
    bool is_broken;  /* it has broken the rules: nobody listens any more */
    bool is_excused; /* it was told to end through no fault of its own */
    bool is_closing;
};

/* resident_turns.c. A turn is its resident's from here on, and freed when it is removed. */
void resident_add_turn(struct resident *resident, struct turn *turn);
void resident_remove_turn(struct resident *resident, struct turn *turn);
void resident_forget_turns(struct resident *resident);

/* The first reason is kept. */
void turn_set_stop(struct turn *turn, enum stop_reason why);

/* resident_voice.c: what comes out of its pipes. */
void resident_hear(void *context, enum program_stream stream, struct bytes data);
void resident_hear_error_line(void *context, struct bytes line, uint64_t dropped);

/* Ends one that broke the rules: its jobs have failed. */
void resident_accuse(struct resident *resident, const struct error *err);

#endif
