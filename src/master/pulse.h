/*
 * pulse.h - finds processes that hang: alive for the system, and doing nothing.
 *
 *     stopped     by a signal, as the system tells their parent: killed after a few seconds. It may
 *                 be a job that stopped its worker; nobody else would ever end that job
 *     silent      every process is asked for a sign of life now and then, and its loop answers.
 *                 One that owes an answer for too long is killed. A worker inside a plugin cannot
 *                 answer: overrun.c looks after that
 *     deaf        a worker that starts nothing while jobs wait, as the dispatcher sees: killed
 *
 * A process that was killed is replaced like any other that died: without the dispatcher no job
 * would run, without the heartbeater all leases would end, without a scheduler none would become
 * due.
 *
 * Time in which the master itself was stopped, or the machine slept, is counted against nobody.
 */
#ifndef MASTER_PULSE_H
#define MASTER_PULSE_H

#include "base/base.h"
#include "process/loop.h"

struct children;
struct error;
struct overrun;
struct pulse;
struct seat;

/* What was seen of the process in a seat. With no time in it, it is well. */
struct pulse_watch {
    struct pulse *pulse;
    struct seat *seat;
    usec_t asked_at;   /* boot time; 0: it owes no answer */
    usec_t stopped_at; /* boot time; 0: it is not */
    struct loop_timer stop_timer;
};

struct pulse {
    struct children *children;
    struct overrun *overrun;
    struct pulse_watch *watches; /* owned; of each seat */
    struct loop_timer timer;
};

/* What to do about one that may owe an answer. */
enum pulse_step {
    PULSE_ASK,
    PULSE_WAIT,
    PULSE_KILL,
};

/* At `now`; `is_excused`: it cannot answer where it is. */
enum pulse_step pulse_judge(struct pulse_watch *watch, bool is_ready, bool is_excused, usec_t now);

bool pulse_init(struct pulse *pulse, struct children *children, struct overrun *overrun,
                struct error *err) MUST_CHECK;
void pulse_done(struct pulse *pulse);

/* From here on all are asked, now and then. */
void pulse_start(struct pulse *pulse);

void pulse_note_answer(struct pulse *pulse, const struct seat *seat);
/* The dispatcher says that a worker starts nothing while jobs wait. */
void pulse_note_deaf(struct seat *seat);
void pulse_note_stopped(struct pulse *pulse, const struct seat *seat);
void pulse_note_continued(struct pulse *pulse, const struct seat *seat);

/* The next process in that seat is another one. */
void pulse_forget(struct pulse *pulse, const struct seat *seat);

#endif
