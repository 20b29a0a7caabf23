/*
 * turnstile.h - writers take turns.
 *
 * SQLite's own lock is not fair: against a busy writer another one can wait for a second. So every
 * writer first takes byte 0 of PATH-lock, then byte 1, then drops byte 0; byte 1 is dropped after
 * the commit. Whoever waits for byte 1 holds byte 0, so the one who just wrote cannot come back
 * first. The kernel drops the locks of a process that dies.
 *
 * The waits are short sleeps rather than F_OFD_SETLKW: that one has no deadline, and a writer that
 * is stopped in its transaction (Ctrl-Z) must not hang all others.
 */
#ifndef SQLITE_TURNSTILE_H
#define SQLITE_TURNSTILE_H

#include "base/base.h"
#include "base/error.h"

struct sqlite_turnstile {
    char *path; /* owned */
    int fd;     /* -1 until the first turn */
};

/* True once it is our turn. TH_E_UNAVAILABLE at the deadline (boot time), and when the lock file
 * cannot be used. */
bool sqlite_turnstile_enter(struct sqlite_turnstile *turnstile, usec_t deadline,
                            struct error *err) MUST_CHECK;
void sqlite_turnstile_leave(struct sqlite_turnstile *turnstile);

void sqlite_turnstile_done(struct sqlite_turnstile *turnstile);

#endif
