/*
 * attention.c - somebody looks, and goes on looking: the marks that tell pools so.
 */
#include "client/attention.h"

#include "base/clock.h"

#define MARK_LASTS (10 * USEC_PER_SEC)
#define MARK_AGAIN (5 * USEC_PER_SEC)

void attention_pay(struct attention *attention, struct store *store, const struct watch *watch)
{
    struct error err;

    if (clock_boot() < attention->mark_at)
        return;
    attention->mark_at = clock_boot() + MARK_AGAIN;
    const usec_t now = store_now(store);
    if (!store_watch(store, watch, now + MARK_LASTS, now, &err))
        return; /* whoever looks next says so, if it matters */
}
