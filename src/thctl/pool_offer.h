/*
 * pool_offer.h - the queues and the handlers of a pool as lines for people.
 *
 *     queues   default, mail (weight 3, max_running 10, rate 100/s)
 *     handles  email:send, thumbnail, webhook:*
 */
#ifndef THCTL_POOL_OFFER_H
#define THCTL_POOL_OFFER_H

#include "base/base.h"
#include "cli/output.h"
#include "client/pool_status.h"

/* Indented by `indent` spaces; on a terminal wrapped at its width. What a pool has not said is left
 * out. */
void pool_offer_print(const struct pool_status *status, size_t indent, struct output *out);

#endif
