/*
 * scheduler.c - `thd: scheduler`: scheduled jobs become ready when they are due.
 *
 * Woken when the next job is due, and once a second: it hears of no enqueue.
 */
#include "periodic/scheduler.h"

#include "periodic/periodic.h"
#include "periodic/promote.h"

static bool make_ready(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    (void)context;
    return promote_pass(store, JOB_SCHEDULED, next_out, err);
}

int scheduler_main(struct process *process)
{
    const struct periodic scheduler = {.pass = make_ready};

    return periodic_run(process, &scheduler);
}
