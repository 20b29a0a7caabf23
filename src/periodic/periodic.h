/*
 * periodic.h - the loop of a process that wakes, makes one pass over the store, and sleeps.
 *
 *     int retrier_main(struct process *process)
 *     {
 *         const struct periodic retrier = {.pass = make_ready};
 *         return periodic_run(process, &retrier);
 *     }
 */
#ifndef PERIODIC_PERIODIC_H
#define PERIODIC_PERIODIC_H

#include "base/base.h"
#include "process/meters.h"

struct error;
struct process;
struct store;

struct periodic {
    enum store_work work; /* what a pass is, for the meters */

    /* One pass, the first one at once. *next_out, on clock_boot(): when the next one is wanted; a
     * pass that has more to do than it wants to do at once says now, so that orders are heard. */
    bool (*pass)(void *context, struct store *store, usec_t *next_out, struct error *err);

    /* The last words to the store when the process is asked to exit, and not only to make room for
     * the next one; NULL: none. */
    bool (*leave)(void *context, struct store *store, struct error *err);

    /* Whether a pass is wanted before its time; asked each second, without the store. NULL: never.
     */
    bool (*is_wanted)(void *context);

    /* While the store is away it is tried at least this often; 0: as outage.h has it. */
    usec_t max_silence;

    /* Of each call to the store; 0: as store.h has it. */
    usec_t deadline;
    void *context;
};

/* Until the master asks to exit, or it makes no sense to go on. Returns the exit code. */
int periodic_run(struct process *process, const struct periodic *periodic);

#endif
