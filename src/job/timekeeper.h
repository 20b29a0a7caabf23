/*
 * timekeeper.h - what a process knows of the database's clock.
 *
 * The offset between the database's clock and this machine's boot time, which never jumps. It is
 * learnt from questions: the true offset lies between what the answer would mean had it been given
 * when we asked, and when it came. So a slow answer is worth little, and moves nothing that it does
 * not contradict. An offset that is merely known better now never turns time back: what was told
 * already is told until the better clock has passed it, so that no run ends before it began.
 *
 * A database's clock may be set. Then processes learn of it one after the other, and for a while
 * one that knows meets one that does not. Whoever holds or takes back leases therefore goes by both
 * clocks for one lease after it has seen a step:
 *
 *   compared is    the clock that is behind: nobody's lease is over sooner than its owner believes
 *   leases end by  the one that is ahead, plus the lease: whoever compares finds them valid
 *
 *               before      seen      a lease later
 *   compared    old --------- min ------------ new
 *   expiry by   old --------- max ------------ new
 *
 * All processes learn of it within a third of a lease, so when the first of them goes by the new
 * clock alone, all the others have extended their leases by it.
 *
 * A pool that has just started knows the new clock alone. After a step back its leases look over to
 * those who have not seen the step: so the database itself has to agree (driver.h, is_clocked).
 * Pure: no clock is read here.
 */
#ifndef JOB_TIMEKEEPER_H
#define JOB_TIMEKEEPER_H

#include "base/base.h"

/* Zeroed, but for the lease: nothing is known yet. */
struct timekeeper {
    usec_t lease; /* 0: holds none, and goes by the newest clock alone */
    bool is_set;
    usec_t offset;    /* the database's time minus boot time */
    usec_t width;     /* of the question that it was learnt by: it is known to half of it */
    usec_t asked_at;  /* boot time of the last question */
    usec_t low, high; /* the offsets that it goes by until then */
    usec_t until;     /* boot time; 0: it never saw a step */
    usec_t told;      /* the latest moment told by a worse offset; 0: none is ahead */
    unsigned steps;   /* that it has seen */
    usec_t last_step;
};

/* A question and its answer; the first two are boot times. */
struct timekeeper_sample {
    usec_t asked_at, answered_at, answer;
};

void timekeeper_note(struct timekeeper *keeper, const struct timekeeper_sample *sample);

/* The database's time, to compare with, and to store; and what a lease has to be longer than it
 * looks by that. `boot` is the time now. */
usec_t timekeeper_now(const struct timekeeper *keeper, usec_t boot);
usec_t timekeeper_lead(const struct timekeeper *keeper, usec_t boot);

#endif
