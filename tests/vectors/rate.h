/*
 * rate.h - what may start of a queue with a rate: one table for rate_allows(), rate_next() and
 * rate_spend() of job/rate.c, and for what the stores make of it in SQL and Lua.
 */
#ifndef TESTS_VECTORS_RATE_H
#define TESTS_VECTORS_RATE_H

#include "base/base.h"
#include "base/units.h"

#define RATE_BILLION 1000000000

struct rate_vector {
    const char *rule;
    struct units_rate rate;
    usec_t ahead;    /* how far spent_until is ahead of now */
    int64_t allowed; /* how many may start now */
    usec_t wait;     /* how long until the next one may */
    int64_t count;   /* when so many are started */
    usec_t spent;    /* spent_until is so far ahead */
};

/* clang-format off */
#define RATE_HUNDRED {100, USEC_PER_SEC}
#define RATE_THREE   {3, USEC_PER_SEC}
#define RATE_DAILY   {1, USEC_PER_DAY}
#define RATE_FASTEST {RATE_BILLION, USEC_PER_SEC}

static const struct rate_vector rate_vectors[] = {
    {"what is paid for counts no more",         RATE_HUNDRED, 0,                  100, 0,            1, 10000},
    {"however long ago it was",                 RATE_HUNDRED, -365*USEC_PER_DAY,  100, 0,            1, 10000},
    {"one of them is spent",                    RATE_HUNDRED, 10000,              99,  0,            2, 30000},
    {"a part of one is one",                    RATE_HUNDRED, 1,                  99,  0,            1, 10001},
    {"one is left",                             RATE_HUNDRED, 990000,             1,   0,            1, USEC_PER_SEC},
    {"the next one is not paid for yet",        RATE_HUNDRED, 990001,             0,   1,            0, 990001},
    {"all are spent",                           RATE_HUNDRED, USEC_PER_SEC,       0,   10000,        0, USEC_PER_SEC},
    {"an interval that is no whole number is rounded up once, however many start",
                                                RATE_THREE,   0,                  3,   0,            2, 666667},
    {"and costs no start",                      RATE_THREE,   333334,             2,   0,            2, 1000001},
    {"nor do two of them",                      RATE_THREE,   666667,             1,   0,            1, 1000001},
    {"nor three",                               RATE_THREE,   USEC_PER_SEC,       0,   333333,       0, USEC_PER_SEC},
    {"a slow rate has one, or it would never start any",
                                                RATE_DAILY,   0,                  1,   0,            1, USEC_PER_DAY},
    {"once a day",                              RATE_DAILY,   USEC_PER_DAY,       0,   USEC_PER_DAY, 0, USEC_PER_DAY},
    {"and not a microsecond sooner",            RATE_DAILY,   1,                  0,   1,            0, 1},
    {"pools that disagree a little wait a little",
                                                RATE_HUNDRED, 2*USEC_PER_SEC,     0,   1010000,      0, 2*USEC_PER_SEC},
    {"the clock went back, or the rate was slower: it starts anew",
                                                RATE_HUNDRED, 2*USEC_PER_SEC + 1, 100, 0,            1, 10000},
    {"also by a year",                          RATE_DAILY,   365*USEC_PER_DAY,   1,   0,            1, USEC_PER_DAY},
    {"whole jobs only: 90/m is 1.5/s",          {90, USEC_PER_MIN}, 0,            1,   0,            1, 666667},
    {"a billion a day is 11574 in a second",    {RATE_BILLION, USEC_PER_DAY}, 0,  11574, 0,          5, 432},
    {"one of the fastest costs a microsecond",  RATE_FASTEST, 0,                  RATE_BILLION, 0,   1, 1},
    {"the fastest rate counts microseconds",    RATE_FASTEST, USEC_PER_SEC,       1000, 0,           1, 1000001},
};
/* clang-format on */

#endif
