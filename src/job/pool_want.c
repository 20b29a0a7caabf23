/*
 * pool_want.c - what somebody wants a pool to do.
 */
#include "job/pool_want.h"

const char *pool_want_name(enum pool_want want)
{
    static const char *const names[POOL_WANTS] = {
        [POOL_WANT_NOTHING] = "nothing",
        [POOL_WANT_QUIET] = "quiet",
        [POOL_WANT_TERMINATE] = "terminate",
    };

    return names[want];
}
