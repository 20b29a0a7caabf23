/*
 * once.c - --once: whether there is nothing left to do.
 */
#include "dispatcher/once.h"

#include "base/clock.h"
#include "dispatcher/state.h"
#include "store/store.h"

#define PROMOTE_AT_ONCE 1000

bool once_is_over(struct dispatcher *dispatcher, bool *over_out, struct error *err)
{
    const usec_t now = store_now(dispatcher->store);
    size_t scheduled = 0, retried = 0;
    usec_t next;

    *over_out = false;
    if (clock_boot() >= dispatcher->look_at)
        return true;
    if (!store_promote(dispatcher->store, JOB_SCHEDULED, now, PROMOTE_AT_ONCE, &scheduled, &next,
                       err) ||
        !store_promote(dispatcher->store, JOB_RETRY, now, PROMOTE_AT_ONCE, &retried, &next, err))
        return false;
    *over_out = scheduled + retried == 0;
    return true;
}
