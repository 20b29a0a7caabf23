/*
 * running.h - what the workers show of the jobs that they run, as of one look at the scoreboard.
 */
#ifndef PERIODIC_RUNNING_H
#define PERIODIC_RUNNING_H

#include "base/base.h"
#include "process/scoreboard.h"

struct error;

struct running_job {
    int worker; /* its number */
    struct slot_job job;
};

/* Zeroed: none. */
struct running {
    struct running_job *jobs; /* owned */
    size_t count, capacity;
    size_t *by_entry; /* owned; of the lease table: one more than its job's index, or 0 */
    size_t entries;
};

void running_done(struct running *running);

/* Looks again, always at the same two. */
bool running_read(struct running *running, const struct scoreboard *board,
                  const struct lease_table *leases, struct error *err) MUST_CHECK;

/* NULL: nobody runs it, or its worker does not show it. A pointer is good until the next look. */
const struct running_job *running_find(const struct running *running, struct hold hold);

#endif
