/*
 * place.h - where a job waits that is given back: one table for settlement_place() of
 * job/settlement.c, and for what the stores make of it in SQL and Lua.
 *
 * The job was due PLACE_BEFORE the moment at which it is settled. Times are relative to that
 * moment; PLACE_ABSENT is none.
 */
#ifndef TESTS_VECTORS_PLACE_H
#define TESTS_VECTORS_PLACE_H

#include "base/base.h"
#include "job/settlement.h"

#define PLACE_BEFORE (5 * USEC_PER_SEC)
#define PLACE_ABSENT USEC_MAX

struct place_vector {
    const char *rule;
    enum settlement_kind kind;
    usec_t run_at; /* that the settlement asks for */
    enum job_state state;
    usec_t stored_run_at, due;
};

/* clang-format off */
static const struct place_vector place_vectors[] = {
    {"what is released keeps its place",     SETTLE_RELEASE, PLACE_ABSENT, JOB_READY,     -PLACE_BEFORE, -PLACE_BEFORE},
    {"what is set aside keeps its place",    SETTLE_ASIDE,   PLACE_ABSENT, JOB_READY,     -PLACE_BEFORE, -PLACE_BEFORE},
    {"a retry waits until its time",         SETTLE_RETRY,   1,            JOB_RETRY,     1,             1},
    {"which is over when it is now",         SETTLE_RETRY,   0,            JOB_READY,     0,             0},
    {"or was before",                        SETTLE_RETRY,   -1,           JOB_READY,     -1,            -1},
    {"a retry at once goes to the end",      SETTLE_RETRY,   PLACE_ABSENT, JOB_READY,     PLACE_ABSENT,  0},
    {"a snooze waits until its time",        SETTLE_SNOOZE,  1,            JOB_SCHEDULED, 1,             1},
    {"which is over when it is now",         SETTLE_SNOOZE,  0,            JOB_READY,     0,             0},
    {"or was before",                        SETTLE_SNOOZE,  -1,           JOB_READY,     -1,            -1},
    {"a snooze for no time goes to the end", SETTLE_SNOOZE,  PLACE_ABSENT, JOB_READY,     PLACE_ABSENT,  0},
};
/* clang-format on */

/* A moment of the table as a run_at: 0 is none. */
static inline usec_t place_moment(usec_t at, usec_t now)
{
    return at == PLACE_ABSENT ? 0 : now + at;
}

#endif
