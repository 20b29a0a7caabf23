/*
 * scheduler.c - `thd: scheduler`: scheduled jobs become ready when they are due, and cron entries
 * become jobs.
 *
 * Woken when the next job or cron entry is due, once a second, and when the dispatcher has heard of
 * a job that is due before that.
 */
#include "periodic/scheduler.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "periodic/crontab.h"
#include "periodic/periodic.h"
#include "periodic/promote.h"
#include "process/process.h"
#include "store/store.h"

/* Jobs first: while a part of a cluster is away, cron waits for all of it, as an entry may have
 * been in any queue before. */
static bool make_ready(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    struct crontab *crontab = context;
    usec_t next_slot = 0;

    if (!promote_pass(store, JOB_SCHEDULED, next_out, err) ||
        !crontab_pass(crontab, store, store_now(store), &next_slot, err))
        return false;
    const usec_t wake_at = promote_wake_at(next_slot, store_now(store), clock_boot());
    if (wake_at < *next_out)
        *next_out = wake_at;
    return true;
}

int scheduler_main(struct process *process)
{
    CLEANUP(crontab_done) struct crontab crontab = {0};
    const struct periodic scheduler = {
        .work = STORE_PROMOTE, .pass = make_ready, .context = &crontab};
    struct error err;

    if (!crontab_init(&crontab, process->config, &err))
        return process_fail(&err);
    return periodic_run(process, &scheduler);
}
