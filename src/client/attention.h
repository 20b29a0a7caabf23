/*
 * attention.h - somebody looks, and goes on looking: the marks that tell pools so.
 *
 * The pool that runs a job learns of a mark with its next heartbeat, and from then on reports at
 * once what is new. A mark lasts for seconds and is renewed while somebody looks: one small write
 * now and then, not one for each look.
 */
#ifndef CLIENT_ATTENTION_H
#define CLIENT_ATTENTION_H

#include "base/base.h"
#include "store/store.h"

/* Zeroed: the first mark is left at once. */
struct attention {
    usec_t mark_at; /* boot time of the next mark */
};

/* To be called with each look. Whoever cannot leave a mark, because it may only read, does without:
 * then news come with each heartbeat. */
void attention_pay(struct attention *attention, struct store *store, const struct watch *watch);

#endif
