/*
 * resident.h - a program that stays: one JSON line per job to its stdin, its answers from its
 * stdout.
 *
 *     not started --first job--> running --answer--> running --…
 *          ^                        |
 *          `--- it dies, breaks the protocol, overruns the timeout, or its job is stopped
 *
 * and what becomes of its job:
 *
 *     an answer                     as it says
 *     a line that is none           failed, naming it; the program is ended
 *     its end, before it answered   failed; not started when it had read nothing of the job
 *     timeout                       failed; the program is ended
 *     stopped on request            cancelled or released; the program is ended
 *
 * A job is reported when nobody works on it any more: a program that has to end has ended by then.
 * One that ended between two jobs is started anew with the next. One that has to
 * wait for that, as restarts.h says, holds nobody up: a job that comes meanwhile is given back.
 */
#ifndef WORKER_RESIDENT_H
#define WORKER_RESIDENT_H

#include "base/base.h"
#include "worker/command.h"
#include "worker/handler.h"

struct resident_plan {
    const char *name; /* of the handler */
    const char *const *argv;
    struct command command; /* all else of what to run */
};

struct resident;

bool resident_open(const struct resident_plan *plan, const struct handler_place *place,
                   struct resident **resident_out, struct error *err) MUST_CHECK;

/* Its stdin ends; if it does not end by itself soon, it is stopped. */
void resident_close(struct resident **resident);

/* One job to its end. False when this process cannot go on. */
bool resident_run(struct resident *resident, const struct handler_job *job,
                  const struct handler_listener *listener, struct handler_report *report_out,
                  struct error *err) MUST_CHECK;

/* Called from the loop while it has a job. */
void resident_stop(struct resident *resident, enum execution_stop why, usec_t grace);

#endif
