/*
 * audit.c - middleware: one line before and one after every job, whatever runs it.
 *
 *     cc -shared -fPIC -o libaudit.so audit.c
 *
 *     pool:
 *       middleware: [./libaudit.so]
 */
#include <taskharbor/plugin.h>

static const char *const outcomes[] = {"done", "retry", "dead", "snooze"};
static long jobs; /* seen by this worker */

static int init(struct th_context *ctx)
{
    jobs = 0;
    th_log(ctx, "audit begins");
    return 0;
}

static enum th_outcome audit(const struct th_job *job, struct th_context *ctx)
{
    th_log(ctx, "audit %ld: %s, attempt %d, %zu bytes", ++jobs, job->type, job->attempt,
           job->payload_size);
    const enum th_outcome outcome = th_next(ctx, job);
    th_log(ctx, "audit %ld: %s", jobs, outcomes[outcome]);
    return outcome;
}

TH_MIDDLEWARE("audit", init, NULL, audit)
