/*
 * turnstile.c - byte locks on PATH-lock, in the order that makes them fair.
 */
#include "store/sqlite/file/turnstile.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "store/sqlite/file/neighbour.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { TURN = 0, DOOR = 1 }; /* the bytes */

#define NAP_SHORTEST (20 * USEC_PER_MSEC / 1000)
#define NAP_LONGEST  (1 * USEC_PER_MSEC)

static bool open_lock(struct sqlite_turnstile *turnstile, struct error *err)
{
    return turnstile->fd >= 0 || sqlite_neighbour_open(turnstile->path, &turnstile->fd, err);
}

/* Locks belong to the open file, not to the process: two handles of one process take turns too. */
static int set_lock(const struct sqlite_turnstile *turnstile, short type, int byte)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int result;

    do
        result = fcntl(turnstile->fd, F_OFD_SETLK, &lock);
    while (result < 0 && errno == EINTR);
    return result;
}

static bool wait_for(const struct sqlite_turnstile *turnstile, int byte, usec_t deadline,
                     struct error *err)
{
    usec_t nap = 0;

    while (set_lock(turnstile, F_WRLCK, byte) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: cannot lock %s",
                               turnstile->path);
        if (clock_boot() >= deadline)
            return error_set(err, TH_E_UNAVAILABLE,
                             "sqlite: %s: another process holds the write lock and does not let go",
                             turnstile->path);
        nap = backoff_next(nap, NAP_SHORTEST, NAP_LONGEST);
        clock_sleep(nap);
    }
    return true;
}

bool sqlite_turnstile_enter(struct sqlite_turnstile *turnstile, usec_t deadline, struct error *err)
{
    if (!open_lock(turnstile, err) || !wait_for(turnstile, TURN, deadline, err))
        return false;
    bool entered = wait_for(turnstile, DOOR, deadline, err);
    set_lock(turnstile, F_UNLCK, TURN);
    return entered;
}

void sqlite_turnstile_leave(struct sqlite_turnstile *turnstile)
{
    set_lock(turnstile, F_UNLCK, DOOR);
}

void sqlite_turnstile_done(struct sqlite_turnstile *turnstile)
{
    if (turnstile->fd >= 0)
        close(turnstile->fd);
    turnstile->fd = -1;
    free(turnstile->path);
    turnstile->path = NULL;
}
