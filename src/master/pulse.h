/*
 * pulse.h - finds processes that hang: alive for the system, and doing nothing.
 *
 * The dispatcher and the heartbeater count what they do on the scoreboard. One whose count stands
 * still for too long is killed, and started anew like any other that died: without the dispatcher
 * no job would run, and the heartbeater would keep the leases of those that it holds.
 */
#ifndef MASTER_PULSE_H
#define MASTER_PULSE_H

#include "base/base.h"
#include "process/loop.h"

struct master;

/* What was seen of one process. Zeroed: nothing. */
struct pulse {
    uint32_t serial;
    int64_t count;
    usec_t since; /* boot time at which the count was first seen */
};

/* Notes what is seen at `now`; true when it has stood still for `limit`. */
bool pulse_stands_still(struct pulse *pulse, uint32_t serial, int64_t count, usec_t now,
                        usec_t limit);

void pulse_start(struct master *master);

#endif
