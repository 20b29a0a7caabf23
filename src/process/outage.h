/*
 * outage.h - a store that is away: when to try again, and saying so once.
 *
 * The delay grows from 100 ms to 5 s, with some jitter, so that a hundred pools do not come back in
 * the same moment.
 */
#ifndef PROCESS_OUTAGE_H
#define PROCESS_OUTAGE_H

#include "base/base.h"

struct error;

/* Zeroed: all is well. */
struct outage {
    usec_t since; /* boot time; 0: the store answers */
    usec_t delay;
};

/* Notes a failure, logs `store_lost` if it is the first, and returns when to try again, on
 * clock_boot(). */
usec_t outage_note(struct outage *outage, const struct error *err);

/* Notes that the store answered; logs `store_back` with how long it was away. */
void outage_end(struct outage *outage);

/* Whether a failure may pass by itself. Any other ends the process: the master starts it again. */
bool outage_may_pass(const struct error *err);

#endif
