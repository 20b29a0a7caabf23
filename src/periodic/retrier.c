/*
 * retrier.c - `thd: retrier`: failed jobs become ready again when they are due.
 *
 * Woken when the next job is due, once a second, and when the dispatcher has settled one that is
 * due before that.
 */
#include "periodic/retrier.h"

#include "periodic/periodic.h"
#include "periodic/promote.h"

static bool make_ready(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    (void)context;
    return promote_pass(store, JOB_RETRY, next_out, err);
}

int retrier_main(struct process *process)
{
    const struct periodic retrier = {.work = STORE_PROMOTE, .pass = make_ready};

    return periodic_run(process, &retrier);
}
