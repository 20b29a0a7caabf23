/*
 * rate.h - how many jobs of a queue may start now.
 *
 * GCRA: the one thing to remember of a queue is `spent_until`, the moment at which all that was
 * started so far would be paid for if it had been started evenly. Each start moves it on by one
 * interval; it may be ahead of now by as much as the burst is worth. 0: nothing was started yet.
 *
 * In any stretch of time no more jobs start than the rate allows in it, plus the burst. A moment
 * that is further ahead than starts can have moved it is not believed: the clock went back, or the
 * rate was another one. The queue then starts over instead of standing still.
 */
#ifndef JOB_RATE_H
#define JOB_RATE_H

#include "base/base.h"
#include "base/units.h"

/* Whether it is none (count 0), or one that units_parse_rate() could have read. */
bool rate_is_valid(const struct units_rate *rate);

/* How many may start at once after a long rest: one second's worth, and at least one. */
int64_t rate_burst(const struct units_rate *rate);

/* How many may start now. */
int64_t rate_allows(const struct units_rate *rate, usec_t spent_until, usec_t now);

/* What to remember when `count` were started: no more than were allowed. */
usec_t rate_spend(const struct units_rate *rate, usec_t spent_until, usec_t now, int64_t count);

/* When the next one may start; `now` when it may at once. */
usec_t rate_next(const struct units_rate *rate, usec_t spent_until, usec_t now);

#endif
