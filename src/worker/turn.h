/*
 * turn.h - one job in the hands of a resident, from its line to its outcome.
 */
#ifndef WORKER_TURN_H
#define WORKER_TURN_H

#include "base/base.h"
#include "worker/execution.h"
#include "worker/resident_line.h"
#include "worker/steering.h"

struct arena;
struct handler_job;
struct handler_listener;
struct handler_report;
struct tail;

struct turn {
    const char *resident; /* its name */
    const struct handler_job *job;
    const struct handler_listener *listener;
    struct arena *arena; /* of the report */
    usec_t began;        /* boot time */
    usec_t cpu_before;   /* that the program had used */

    enum execution_stop stop;
    bool has_answer;
    struct answer answer; /* points into the arena */
    const char *fault;    /* what the program did wrong; NULL: nothing so far */
    int percent;          /* -1: none so far */
    char text[STEERING_TEXT_SIZE];

    bool is_given;          /* to the program */
    bool is_dead;           /* the program, before it answered */
    bool read_nothing;      /* of the job */
    struct program_end end; /* of one that has ended */
    usec_t wall, cpu;
};

struct turn turn_begin(const char *resident, const struct handler_job *job,
                       const struct handler_listener *listener, struct arena *arena);

/* The program gets it now; for the first time, or because another ended before it read it. */
void turn_give(struct turn *turn);

/* Nothing has decided yet what becomes of the job. */
bool turn_is_open(const struct turn *turn);

/* What the program says about it. */
void turn_take(struct turn *turn, const struct answer *answer);

/* Whether the program ended before it had read anything, so that the job has not run. */
bool turn_was_missed(const struct turn *turn);

/* Measures it: the program has answered, or has ended. */
void turn_end(struct turn *turn, const struct program *program);

/* `printed` is the tail of stderr. */
void turn_judge(const struct turn *turn, const struct tail *printed, struct handler_report *report);

#endif
