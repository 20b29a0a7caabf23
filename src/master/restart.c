/*
 * restart.c - how long a process that ended waits for its successor.
 */
#include "master/restart.h"

static usec_t next_delay(struct restart *restart)
{
    usec_t delay = RESTART_DELAY_MIN;

    for (unsigned i = 0; i < restart->delays && delay < RESTART_DELAY_MAX; i++)
        delay *= 2;
    if (delay >= RESTART_DELAY_MAX)
        return RESTART_DELAY_MAX;
    restart->delays++;
    return delay;
}

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
    return next_delay(restart);
}
