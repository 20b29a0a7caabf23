/*
 * picks.c - the words that pick jobs.
 */
#include "api/picks.h"

#include "job/state.h"

/* clang-format off */
const char *const pick_states[] = {
    [JOB_SCHEDULED] = "scheduled",
    [JOB_READY]     = "ready",
    [JOB_BLOCKED]   = "blocked",
    [JOB_RUNNING]   = "running",
    [JOB_RETRY]     = "retry",
    [JOB_DONE]      = "done",
    [JOB_DEAD]      = "dead",
    [JOB_CANCELLED] = "cancelled",
    [JOB_STATES]    = NULL,
};
/* clang-format on */
