/*
 * pace.h - how fast jobs end: what has been done and has failed since somebody looked before.
 *
 * The store counts what was ever done. So the rate of a queue needs two looks; they are those that
 * people make anyway.
 */
#ifndef BROWSE_PACE_H
#define BROWSE_PACE_H

#include "base/base.h"
#include "store/store.h"

/* Zeroed: nobody has looked yet. */
struct pace {
    struct {
        struct queue_stats_list list; /* owned */
        usec_t at;                    /* boot time; 0: none */
    } before, latest;
};

/* What somebody has seen, which is taken over. */
void pace_note(struct pace *pace, struct queue_stats_list *list, usec_t now);

struct pace_rates {
    int64_t done, failed; /* in a thousand seconds */
};

/* Since a look that was a second to a few minutes ago. False: there was none. */
bool pace_of(const struct pace *pace, const struct queue_stats *stats, usec_t now,
             struct pace_rates *rates_out) MUST_CHECK;

void pace_done(struct pace *pace);

#endif
