/*
 * restarts.h - when a resident that died may be started again.
 *
 * One that has answered anything is started again at once: it is of use, whatever killed it. One
 * that dies soon after its start without an answer must not become a storm of forks, so from the
 * second time in a row on it waits, longer each time. Pure: no clock, no process.
 */
#ifndef WORKER_RESTARTS_H
#define WORKER_RESTARTS_H

#include "base/base.h"

#define RESTARTS_SOON      (10 * USEC_PER_SEC)
#define RESTARTS_DELAY_MIN (100 * USEC_PER_MSEC)
#define RESTARTS_DELAY_MAX (30 * USEC_PER_SEC)

struct error;

/* Zeroed: it has not died. */
struct restarts {
    unsigned deaths; /* in a row, each of them soon and without an answer */
    usec_t delay;    /* after the last of them */
    usec_t next;     /* when it may start; times are boot time */
};

void restarts_note_death(struct restarts *restarts, usec_t lived, bool has_answered, usec_t now);

/* How long until then; 0: now. */
usec_t restarts_wait(const struct restarts *restarts, usec_t now);

/* Whether it may start now; else err says why not. */
bool restarts_check(const struct restarts *restarts, const char *resident, usec_t now,
                    struct error *err) MUST_CHECK;

#endif
