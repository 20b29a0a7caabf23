/*
 * cron.h - a schedule to its next time.
 *
 * A schedule is a set of local times, to the second. When clocks are shifted:
 *
 *   hours are written as      a time that is skipped   a time that comes twice
 *   fixed: 2, 1-3, 9,17       runs at the shift        runs the first time
 *   * or a step: 10-20/2      does not run             runs both times
 *
 * So what is meant for an hour of the day runs once on each day, and what is meant to repeat goes
 * on at its pace. Several times that are skipped together run once.
 */
#ifndef JOB_CRON_H
#define JOB_CRON_H

#include "base/base.h"
#include "base/zone.h"

/* Bit n of a set stands for the number n. None is empty. */
struct cron {
    uint64_t seconds, minutes, hours;
    uint64_t days;     /* of the month: 1 to 31 */
    uint64_t months;   /* 1 to 12 */
    uint64_t weekdays; /* 0 to 6; 0 is Sunday */
    bool hours_repeat; /* written with * or a step */
    bool either_day;   /* both kinds of days are restricted: one of them is enough */
};

/* The first moment strictly after `after`: a whole second. 0 when there is none within the next
 * eight years, or before the year 10000. */
usec_t cron_next(const struct cron *cron, const struct zone *zone, usec_t after);

#endif
