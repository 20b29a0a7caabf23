/*
 * offers.h - what the live pools of a store offer: which queues they serve, which types they
 * handle.
 *
 * A pool says it with its heartbeats. One that has not said it may offer anything: what is missing
 * is only missing for certain when all of them have spoken.
 */
#ifndef CLIENT_OFFERS_H
#define CLIENT_OFFERS_H

#include "base/arena.h"
#include "base/base.h"
#include "client/pool_status.h"
#include "job/job.h"
#include "store/store.h"

/* A pool that has not been heard of for this long is taken for dead. */
#define POOL_SILENT_AFTER (60 * USEC_PER_SEC)

struct offers {
    struct pool_status *pools; /* those that are not silent */
    size_t count;

    /* What they point into. */
    struct pool_list list;
    struct arena arena;
};

bool offers_read(struct store *store, struct offers *offers_out, struct error *err) MUST_CHECK;

/* The same for those heard of within `silent_after`, except for those called `besides`: one pool by
 * its full name, or all that a new one of this name takes the place of. NULL: no exception. */
bool offers_read_besides(struct store *store, const char *besides, usec_t silent_after,
                         struct offers *offers_out, struct error *err) MUST_CHECK;
void offers_done(struct offers *offers);

/* What a job of this queue and type would wait for. */
enum offers_gap {
    OFFERS_NO_GAP,
    OFFERS_NO_POOL,
    OFFERS_NO_QUEUE,   /* no pool serves the queue */
    OFFERS_NO_HANDLER, /* none of those that serve it handles the type */
};

enum offers_gap offers_gap(const struct offers *offers, const char *queue, const char *type);

/* The handler that the type has in the pools that serve the queue, the best match of all; NULL:
 * none that is known. */
const struct pool_handler *offers_handler(const struct offers *offers, const char *queue,
                                          const char *type);

/* What somebody who wrote `queue` or `type` may have meant; NULL: nothing is close. A type is only
 * compared with patterns that are whole types. */
const char *offers_closest_queue(struct offers *offers, const char *queue);
const char *offers_closest_type(struct offers *offers, const char *type);

#endif
