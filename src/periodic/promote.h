/*
 * promote.h - jobs that waited for their time become ready: one pass of scheduler and retrier.
 */
#ifndef PERIODIC_PROMOTE_H
#define PERIODIC_PROMOTE_H

#include "base/base.h"
#include "job/state.h"

struct error;
struct store;

/* Jobs in this state that are due become ready. *next_out, on clock_boot(): when to look again. */
bool promote_pass(struct store *store, enum job_state state, usec_t *next_out,
                  struct error *err) MUST_CHECK;

/* When to look again, on clock_boot(), if the next job is due at `next_due` (0: none is) and it is
 * `now`, both on the database's clock, and `boot_now` on clock_boot(). */
usec_t promote_wake_at(usec_t next_due, usec_t now, usec_t boot_now);

#endif
