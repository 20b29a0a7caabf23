/*
 * restart.c - how long a process that ended waits for its successor.
 */
#include "master/restart.h"

#include "base/backoff.h"

usec_t restart_delay(struct restart *restart, const struct death *death)
{
    if (death->had_job || death->was_recycled)
        return 0;
    if (death->lived >= RESTART_LIFE) {
        *restart = (struct restart){.has_died = true};
        return 0;
    }
    if (death->was_ready && !restart->has_died) {
        restart->has_died = true;
        return 0;
    }
    restart->has_died = true;
    restart->delay = backoff_next(restart->delay, RESTART_DELAY_MIN, RESTART_DELAY_MAX);
    return restart->delay;
}
