/*
 * backoff.c - a delay that doubles each time, up to a limit.
 */
#include "base/backoff.h"

usec_t backoff_next(usec_t delay, usec_t first, usec_t longest)
{
    if (delay == 0)
        return first < longest ? first : longest;
    return delay > longest / 2 ? longest : 2 * delay;
}
