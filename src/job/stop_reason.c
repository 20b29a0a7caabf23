/*
 * stop_reason.c - why a run was stopped before it ended by itself, and what comes of its job.
 */
#include "job/stop_reason.h"

#include <assert.h>

/* clang-format off */
static const struct {
    const char *name;
    enum outcome_kind outcome;
} reasons[STOP_REASONS] = {
    [STOP_NONE]       = {"none",       OUTCOME_FAILED},
    [STOP_TIMEOUT]    = {"timeout",    OUTCOME_FAILED},
    [STOP_CANCEL]     = {"cancel",     OUTCOME_CANCELLED},
    [STOP_LOST_LEASE] = {"lost_lease", OUTCOME_RELEASED},
    [STOP_DRAIN]      = {"drain",      OUTCOME_RELEASED},
    [STOP_COMPANY]    = {"company",    OUTCOME_RELEASED},
    [STOP_FROZEN]     = {"stopped",    OUTCOME_FAILED},
};
/* clang-format on */

const char *stop_reason_name(enum stop_reason reason)
{
    assert((unsigned)reason < STOP_REASONS);
    return reasons[reason].name;
}

enum outcome_kind stop_reason_outcome(enum stop_reason reason)
{
    assert((unsigned)reason < STOP_REASONS);
    return reasons[reason].outcome;
}
