/*
 * merge.h - what a waiting job takes from a newcomer with its key: one table for keyed_merge() of
 * job/keyed.c, and for what the stores make of it in SQL and Lua.
 *
 * Each line holds whatever the other three flags say: MERGE_FLAGS has all of their combinations.
 * The one that waits is enqueued at a moment, the newcomer a microsecond after it. Times are
 * relative to that moment; MERGE_ABSENT is none.
 */
#ifndef TESTS_VECTORS_MERGE_H
#define TESTS_VECTORS_MERGE_H

#include "base/base.h"
#include "job/keyed.h"

#define MERGE_AT     (100 * USEC_PER_SEC)
#define MERGE_ABSENT USEC_MAX
#define MERGE_FLAGS  8

struct merge_vector {
    const char *rule;
    enum update_run_at flag;
    usec_t waiting, newcomer; /* the run_at that each comes with */
    bool moves;               /* the one that waits has the newcomer's from now on */
};

/* clang-format off */
static const struct merge_vector merge_vectors[] = {
    {"always takes an earlier one",          UPDATE_RUN_AT_ALWAYS,     MERGE_AT,     MERGE_AT - 1, true},
    {"always takes an equal one",            UPDATE_RUN_AT_ALWAYS,     MERGE_AT,     MERGE_AT,     true},
    {"always takes a later one",             UPDATE_RUN_AT_ALWAYS,     MERGE_AT,     MERGE_AT + 1, true},
    {"always takes an absent one",           UPDATE_RUN_AT_ALWAYS,     MERGE_AT,     MERGE_ABSENT, true},
    {"always postpones a ready one",         UPDATE_RUN_AT_ALWAYS,     MERGE_ABSENT, MERGE_AT,     true},
    {"always moves a ready one to the end",  UPDATE_RUN_AT_ALWAYS,     MERGE_ABSENT, MERGE_ABSENT, true},
    {"never takes an earlier one",           UPDATE_RUN_AT_NEVER,      MERGE_AT,     MERGE_AT - 1, false},
    {"never takes an equal one",             UPDATE_RUN_AT_NEVER,      MERGE_AT,     MERGE_AT,     false},
    {"never takes a later one",              UPDATE_RUN_AT_NEVER,      MERGE_AT,     MERGE_AT + 1, false},
    {"never takes an absent one",            UPDATE_RUN_AT_NEVER,      MERGE_AT,     MERGE_ABSENT, false},
    {"never postpones a ready one",          UPDATE_RUN_AT_NEVER,      MERGE_ABSENT, MERGE_AT,     false},
    {"never moves a ready one",              UPDATE_RUN_AT_NEVER,      MERGE_ABSENT, MERGE_ABSENT, false},
    {"if_earlier takes an earlier one",      UPDATE_RUN_AT_IF_EARLIER, MERGE_AT,     MERGE_AT - 1, true},
    {"if_earlier leaves an equal one",       UPDATE_RUN_AT_IF_EARLIER, MERGE_AT,     MERGE_AT,     false},
    {"if_earlier leaves a later one",        UPDATE_RUN_AT_IF_EARLIER, MERGE_AT,     MERGE_AT + 1, false},
    {"if_earlier takes an absent one",       UPDATE_RUN_AT_IF_EARLIER, MERGE_AT,     MERGE_ABSENT, true},
    {"if_earlier leaves a ready one",        UPDATE_RUN_AT_IF_EARLIER, MERGE_ABSENT, MERGE_AT,     false},
    {"if_earlier does not move a ready one", UPDATE_RUN_AT_IF_EARLIER, MERGE_ABSENT, MERGE_ABSENT, false},
    {"if_later leaves an earlier one",       UPDATE_RUN_AT_IF_LATER,   MERGE_AT,     MERGE_AT - 1, false},
    {"if_later leaves an equal one",         UPDATE_RUN_AT_IF_LATER,   MERGE_AT,     MERGE_AT,     false},
    {"if_later takes a later one",           UPDATE_RUN_AT_IF_LATER,   MERGE_AT,     MERGE_AT + 1, true},
    {"if_later leaves an absent one",        UPDATE_RUN_AT_IF_LATER,   MERGE_AT,     MERGE_ABSENT, false},
    {"if_later postpones a ready one",       UPDATE_RUN_AT_IF_LATER,   MERGE_ABSENT, MERGE_AT,     true},
    {"if_later moves a ready one to the end", UPDATE_RUN_AT_IF_LATER,  MERGE_ABSENT, MERGE_ABSENT, true},
};
/* clang-format on */

/* What the two have: no value occurs twice, so that one from the wrong place is seen. */
static const struct keyed_fields merge_waiting = {
    .priority = 3,
    .timeout = 11 * USEC_PER_SEC,
    .max_attempts = 12,
    .max_stalls = 13,
    .attempts = 2,
    .stalls = 1,
};

static const struct keyed_fields merge_newcomer = {
    .priority = 7,
    .timeout = 21 * USEC_PER_SEC,
    .max_attempts = 22,
    .max_stalls = 23,
    .attempts = 5,
    .stalls = 6,
};

static inline struct keyed_flags merge_flags(const struct merge_vector *vector, int number)
{
    return (struct keyed_flags){
        .payload = (number & 1) != 0,
        .run_at = vector->flag,
        .retry = (number & 2) != 0,
        .reset_counts = (number & 4) != 0,
    };
}

/* One of the two with its times: enqueued at `now`, relative to `start`. */
static inline struct keyed_fields merge_fields(const struct keyed_fields *fields, usec_t run_at,
                                               usec_t start, usec_t now)
{
    struct keyed_fields timed = *fields;

    timed.run_at = run_at == MERGE_ABSENT ? 0 : start + run_at;
    timed.due = run_at == MERGE_ABSENT ? now : timed.run_at;
    return timed;
}

/* What the one that waits has after it, said without keyed_merge(). */
static inline struct keyed_fields merge_expected(const struct merge_vector *vector,
                                                 const struct keyed_fields *waiting,
                                                 const struct keyed_fields *newcomer,
                                                 struct keyed_flags flags)
{
    const struct keyed_fields *moved = vector->moves ? newcomer : waiting;
    const struct keyed_fields *limits = flags.retry ? newcomer : waiting;

    return (struct keyed_fields){
        .priority = flags.payload ? newcomer->priority : waiting->priority,
        .run_at = moved->run_at,
        .due = moved->due,
        .timeout = limits->timeout,
        .max_attempts = limits->max_attempts,
        .max_stalls = limits->max_stalls,
        .attempts = flags.reset_counts ? 0 : waiting->attempts,
        .stalls = flags.reset_counts ? 0 : waiting->stalls,
    };
}

#endif
