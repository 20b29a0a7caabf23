/*
 * promote.c - jobs that waited for their time become ready: one pass of scheduler and retrier.
 */
#include "periodic/promote.h"

#include "base/clock.h"
#include "base/error.h"
#include "store/store.h"

#define BATCH  1000 /* jobs in one transaction: others want to write too */
#define ROUNDS 20   /* transactions in one pass */

/* A job that comes meanwhile may be due before all others. If that is soon we are told, unless
 * everybody who could tell us is busy: see JOB_SOON. */
#define LONGEST_SLEEP  USEC_PER_SEC
#define SHORTEST_SLEEP USEC_PER_MSEC

bool promote_pass(struct store *store, enum job_state state, usec_t *next_out, struct error *err)
{
    usec_t next_due = 0;
    size_t moved = BATCH;

    for (int round = 0; round < ROUNDS && moved == BATCH; round++) {
        if (!store_promote(store, state, store_now(store), BATCH, &moved, &next_due, err))
            return error_prefix(err, "make %s jobs ready", job_state_name(state));
    }
    *next_out =
        moved == BATCH ? clock_boot() : promote_wake_at(next_due, store_now(store), clock_boot());
    return true;
}

usec_t promote_wake_at(usec_t next_due, usec_t now, usec_t boot_now)
{
    usec_t wait = next_due == 0 ? LONGEST_SLEEP : next_due - now;

    if (wait > LONGEST_SLEEP)
        wait = LONGEST_SLEEP;
    if (wait < SHORTEST_SLEEP)
        wait = SHORTEST_SLEEP;
    return boot_now + wait;
}
