/*
 * aside.c - jobs that nobody can run now.
 */
#include "job/aside.h"

#include <assert.h>

#define STRANGERS_WAIT USEC_PER_HOUR

/* clang-format off */
static const struct {
    const char *name, *words;
    enum job_reason reason;
    const char *epitaph;
} kinds[] = {
    [ASIDE_NONE]         = {NULL, NULL, REASON_NONE, NULL},
    [ASIDE_NO_HANDLER]   = {"no_handler", "no handler", REASON_NO_HANDLER,
                            "no pool of its queue had a handler for its type for a day"},
    [ASIDE_CANNOT_START] = {"cannot_start", "cannot start", REASON_CANNOT_START,
                            "its handler could not be started for a day"},
};
/* clang-format on */

usec_t aside_since(enum job_aside why, usec_t failing_since, usec_t due, usec_t now)
{
    const usec_t seen = failing_since > due ? failing_since : due;

    return why == ASIDE_CANNOT_START && failing_since != 0 && seen < now ? seen : now;
}

usec_t aside_cutoff(usec_t now)
{
    return now - ASIDE_PATIENCE;
}

usec_t aside_cutoff_of_strangers(enum job_aside why, usec_t now)
{
    return aside_cutoff(now) - (why == ASIDE_CANNOT_START ? STRANGERS_WAIT : 0);
}

enum job_reason aside_reason(enum job_aside why)
{
    assert((unsigned)why < COUNT_OF(kinds));
    return kinds[why].reason;
}

const char *aside_epitaph(enum job_aside why)
{
    assert((unsigned)why < COUNT_OF(kinds));
    return kinds[why].epitaph;
}

const char *aside_name(enum job_aside why)
{
    assert((unsigned)why < COUNT_OF(kinds));
    return kinds[why].name;
}

const char *aside_words(enum job_aside why)
{
    assert((unsigned)why < COUNT_OF(kinds));
    return kinds[why].words;
}
