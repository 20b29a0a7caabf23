/*
 * cron_due.h - which times of a schedule are to be enqueued now.
 *
 * A slot is a time of a schedule: one job is enqueued for it, however many pools there are. The
 * store keeps the last slot of each schedule. What has passed since then is due; what has passed
 * while nobody was there to enqueue it was missed, and catch_up says what becomes of it.
 */
#ifndef JOB_CRON_DUE_H
#define JOB_CRON_DUE_H

#include "base/base.h"
#include "job/cron.h"

enum cron_catch_up {
    CATCH_UP_LAST, /* of those that were missed, the last one */
    CATCH_UP_ALL,
    CATCH_UP_NONE,
};

#define CRON_SLOTS_MAX                                                                             \
    100 /* in one pass, each a transaction; the others are due in the next one                     \
         */

/* How late a slot may be before it counts as missed: whoever enqueues sleeps, and stores are slow.
 */
#define CRON_LATE_FOR (10 * USEC_PER_SEC)

/* A stored slot that is further ahead than this was stored by a clock that was wrong: it is
 * ignored, and the schedule goes on from now. One that is less ahead is waited for, so that a clock
 * which is set back by an hour does not run the same slots twice. */
#define CRON_AHEAD_MAX (3 * USEC_PER_HOUR)

struct cron_due {
    usec_t slots[CRON_SLOTS_MAX]; /* in order of time */
    size_t count;
};

/* The slots after `last` and not after `now`, as far as catch_up wants them. */
void cron_due(const struct cron *cron, const struct zone *zone, enum cron_catch_up catch_up,
              usec_t last, usec_t now, struct cron_due *due_out);

/* The latest slot that can be believed; for stores. */
usec_t cron_horizon(usec_t now);

/* What to keep as the last slot of a schedule that is seen for the first time: a moment from which
 * on slots can be missed. It is told from a slot by not being a whole second. */
usec_t cron_first_mark(usec_t now);
bool cron_is_mark(usec_t last);

#endif
