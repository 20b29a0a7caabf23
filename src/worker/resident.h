/*
 * resident.h - a program that stays: one JSON line per job to its stdin, its answers from its
 * stdout. All handlers of a worker that would start the same program share one.
 *
 *     not started --first job--> running --answer--> running --…
 *          ^                        |
 *          `--- it dies, breaks the protocol, or does not stop a job that it was asked to stop
 *
 * and what becomes of its jobs:
 *
 *     an answer                     as it says, for the job that it names
 *     a line that is not one        all have failed, naming it; the program is ended
 *     its end, before it answered   all have failed, except that those of which it had read nothing
 *                                   were not started
 *     timeout, cancel               it is asked to stop that job, and has kill_grace to answer;
 * then it is killed. That job has failed or is cancelled, whatever it says, unless it was to be
 * cancelled and is done; the others are released a lost lease, a drain         the program is
 * ended; all are released
 *
 * A job is reported when nobody works on it any more: a program that has to end has ended by then.
 * One that ended between two jobs is started again with the next. One that has to wait for that, as
 * restarts.h says, holds nobody up: a job that comes meanwhile is given back.
 */
#ifndef WORKER_RESIDENT_H
#define WORKER_RESIDENT_H

#include "base/base.h"
#include "worker/command.h"
#include "worker/handler.h"

/* Of a handler. */
struct resident_plan {
    const char *name;
    const char *const *argv;
    struct command command; /* all else of what to run */
    size_t concurrency;     /* how many jobs it may have while it has one of this handler */
};

struct resident;

bool resident_open(const struct resident_plan *plan, const struct handler_place *place,
                   struct resident **resident_out, struct error *err) MUST_CHECK;

/* Its stdin ends; if it does not end by itself soon, it is stopped. What it has is forgotten. */
void resident_close(struct resident **resident);

/* For a job of the handler with that plan. There always is for the first one. */
bool resident_has_room(const struct resident *resident, const struct resident_plan *plan);

/* Gives it a job. The run stays where it is until it has ended, by resident_serve() or, when the
 * program cannot be started, here. False when this process cannot go on. */
bool resident_begin(struct resident *resident, const struct resident_plan *plan,
                    struct handler_run *run, struct error *err) MUST_CHECK;

/* Called from the loop: one of its jobs has to stop. */
void resident_halt(struct resident *resident, struct handler_run *run, enum stop_reason why,
                   usec_t grace);

/* After each step of the loop while it has jobs. False when this process cannot go on. */
bool resident_serve(struct resident *resident, struct error *err) MUST_CHECK;

/* One job alone, to its end. False when this process cannot go on. */
bool resident_run(struct resident *resident, const struct resident_plan *plan,
                  const struct handler_job *job, const struct handler_listener *listener,
                  struct handler_report *report_out, struct error *err) MUST_CHECK;

/* Called from the loop while it has jobs: all of them have to stop. */
void resident_stop(struct resident *resident, enum stop_reason why, usec_t grace);

#endif
