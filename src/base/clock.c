/*
 * clock.c - the only file that reads a clock.
 */
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <time.h>

static usec_t usec_of(struct timespec time)
{
    return (usec_t)time.tv_sec * USEC_PER_SEC + time.tv_nsec / 1000;
}

static usec_t read_clock(clockid_t id)
{
    struct timespec now;
    const int failed = clock_gettime(id, &now);

    /* These clocks exist on every Linux that runs this. */
    assert(!failed);
    return usec_of(now);
}

usec_t clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

usec_t clock_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

usec_t clock_cpu_of(pid_t pid)
{
    struct timespec used;
    clockid_t id;

    if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &used))
        return 0;
    return usec_of(used);
}

usec_t clock_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int clock_poll_timeout(usec_t left)
{
    if (left <= 0)
        return 0;
    const usec_t milliseconds = left / USEC_PER_MSEC + (left % USEC_PER_MSEC != 0);

    return milliseconds > INT_MAX ? INT_MAX : (int)milliseconds;
}

void clock_sleep(usec_t duration)
{
    if (duration <= 0)
        return;

    struct timespec left = {
        .tv_sec = duration / USEC_PER_SEC,
        .tv_nsec = duration % USEC_PER_SEC * 1000,
    };
    while (clock_nanosleep(CLOCK_BOOTTIME, 0, &left, &left) == EINTR) {
    }
}
