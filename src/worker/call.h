/*
 * call.h - one call into a plugin: what its context leads to, and what became of the job.
 *
 *     th_error(), th_result(), …  -->  struct call  --call_report()-->  struct handler_report
 *
 * Nothing is allocated for a job that is simply done.
 *
 *   what happens                      seen by                       the job
 *   the function returns              call.c                        as it says; a failure is a stop
 *                                                                   if one was wanted
 *   th_cancelled()                    worker.c: halts, the lease;   the function returns
 *                                     call.c: the deadline
 *   it does not return in time        master/overrun.c              the worker is killed: failed,
 *                                                                   cancelled or released
 *   a signal, exit()                  master/children.c: the        failed
 *                                     worker's end, with its mark
 *   it cannot be loaded, init fails,  plugins.c, plugin_handler.c   released: could_not_start
 *   nothing for the type in it
 *   it forks, and the child returns   inside.c: it is no worker     goes on; the child exits
 *   it leaves children behind         plugins.c, staying.c          they are killed with it
 *   the master dies                   lifeline.c                    the worker is killed at once
 */
#ifndef WORKER_CALL_H
#define WORKER_CALL_H

#include "base/arena.h"
#include "base/base.h"
#include "base/gist.h"
#include "worker/execution.h"
#include "worker/handler.h"
#include "worker/tail.h"

#include <taskharbor/plugin.h>

#define CALL_ERROR_SIZE    (GIST_MAX + 1)
#define CALL_PROGRESS_SIZE 256

struct call {
    struct th_context context; /* the first member: what the plugin gets is all of this */
    const char *plugin;        /* its name */
    const struct handler_place *place;
    const struct handler_job *job;           /* NULL: init, which is for no job */
    const struct handler_listener *listener; /* of a job */
    usec_t base_delay;                       /* what a snooze of no length waits */
    usec_t started_at;                       /* boot time */

    /* Of middleware: runs what it is wrapped around. */
    enum th_outcome (*next)(struct call *call, const struct th_job *job);

    /* What the plugin has said so far. */
    char error[CALL_ERROR_SIZE];
    bool has_error;
    struct arena arena; /* owned; of the result */
    struct bytes result;
    usec_t snooze_for; /* -1: not said */
    int progress_percent;
    char progress_text[CALL_PROGRESS_SIZE];
    struct tail output;
};

/* The big arrays stay as they are: `call` need not be zeroed before. */
void call_init(struct call *call, const char *plugin, const struct handler_place *place);
void call_init_for_job(struct call *call, const char *plugin, const struct handler_place *place,
                       const struct handler_job *job, const struct handler_listener *listener,
                       usec_t base_delay);
void call_done(struct call *call);

/* The job as a plugin sees it. */
struct th_job call_job(const struct call *call);

/* Why it has to stop, if it has to. */
enum stop_reason call_stop(struct call *call);

/* What it means that the plugin returned this. False when out of memory. */
bool call_report(struct call *call, enum th_outcome outcome, struct handler_report *report_out,
                 struct error *err) MUST_CHECK;

#endif
