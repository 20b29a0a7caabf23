/*
 * turn.h - one job in the hands of a resident, from its line to its outcome.
 */
#ifndef WORKER_TURN_H
#define WORKER_TURN_H

#include "base/base.h"
#include "base/gist.h"
#include "process/loop.h"
#include "worker/execution.h"
#include "worker/resident_line.h"
#include "worker/steering.h"
#include "worker/tail.h"

struct arena;
struct handler_job;
struct handler_listener;
struct handler_report;
struct handler_run;
struct resident;

struct turn {
    struct turn *next; /* the one that came after it */
    struct resident *resident;
    const char *name;   /* of its handler */
    size_t concurrency; /* that its handler allows */
    struct handler_run *run;
    const struct handler_job *job;
    const struct handler_listener *listener;
    struct arena *arena; /* of the report */
    usec_t began;        /* boot time */
    usec_t cpu_before;   /* that the program had used */

    /* Until its timeout; once it was asked to stop, until the program is killed for that. */
    struct loop_timer timer;
    enum stop_reason stop;
    bool has_answer;
    struct answer answer; /* points into the arena */
    const char *fault;    /* what the program did wrong; NULL: nothing so far */
    int percent;          /* -1: none so far */
    char text[STEERING_TEXT_SIZE];
    struct tail printed; /* on stderr, while the program had no other job */
    struct gist said;    /* on stderr, whomever it was about */

    bool is_given;               /* to the program */
    uint64_t line_from, line_to; /* where its line is in the feed */
    uint64_t cancel_to;     /* and the end of the line that asks to stop it; 0: there is none */
    bool is_dead;           /* the program, before it answered */
    bool read_nothing;      /* of the job */
    struct program_end end; /* of one that has ended */
    usec_t wall, cpu;
};

void turn_begin(struct turn *turn, const char *name, struct handler_run *run);

/* The program gets it now; for the first time, or because another ended before it read it. */
void turn_give(struct turn *turn);

/* Nothing has decided yet what becomes of the job. */
bool turn_is_open(const struct turn *turn);

/* Whether an answer is waited for: also by one that was asked to stop and may do so. */
bool turn_listens(const struct turn *turn);

/* Whether nothing is waited for any more. */
bool turn_is_over(const struct turn *turn);

/* What the program says about it. */
void turn_take(struct turn *turn, const struct answer *answer);

/* What the program prints on stderr meanwhile; `is_alone`: it has no other job. */
void turn_hear(struct turn *turn, struct bytes data, bool is_alone);

/* Whether the program ended before it had read anything of it, so that the job has not run. */
bool turn_was_missed(const struct turn *turn);

/* Measures it: the program has answered, or has ended. */
void turn_end(struct turn *turn, const struct program *program);

void turn_judge(const struct turn *turn, struct handler_report *report);

void turn_done(struct turn *turn);

#endif
