/*
 * clock.h - the only file that reads a clock.
 *
 * Stored times are wall time, corrected to the database's clock by store_now(). Deadlines of this
 * machine are boot time: it never jumps, and it goes on while the machine sleeps.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/base.h"

#include <sys/types.h>

usec_t clock_wall(void);
usec_t clock_boot(void);

/* CPU time that a process has used so far, without its children; 0 when it is gone. */
usec_t clock_cpu_of(pid_t pid);

/* Stands still while the machine sleeps: only for those who ask for it, such as systemd. */
usec_t clock_monotonic(void);

/* For poll() and epoll_wait(): milliseconds, rounded up so that a wait is never cut to a busy loop;
 * 0 for what has passed. */
int clock_poll_timeout(usec_t left);

/* Waits this long, whatever signals come; for back-off, never for synchronisation. */
void clock_sleep(usec_t duration);

#endif
