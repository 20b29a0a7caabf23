/*
 * bell.c - inotify on PATH-bell.
 */
#include "store/sqlite/file/bell.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/sqlite/file/neighbour.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deleted, or another one has its name. */
static bool is_gone(int fd)
{
    struct stat found;

    return fstat(fd, &found) != 0 || found.st_nlink == 0;
}

static void drop_ring(struct sqlite_bell *bell)
{
    close(bell->ring_fd);
    bell->ring_fd = -1;
}

void sqlite_bell_ring(struct sqlite_bell *bell)
{
    struct error ignored; /* whoever listens says what is wrong with the file */

    /* Always the same byte at the same place: the file does not grow, and only the write counts.
     * A bell that cannot be rung delays listeners until their next look, and loses nothing. */
    if (bell->ring_fd >= 0 && is_gone(bell->ring_fd))
        drop_ring(bell);
    if (bell->ring_fd < 0 && !sqlite_neighbour_open(bell->path, &bell->ring_fd, &ignored))
        bell->ring_fd = -1;
    if (bell->ring_fd >= 0 && pwrite(bell->ring_fd, "!", 1, 0) != 1)
        drop_ring(bell);
}

/* On the file that has the name now. */
static bool watch(struct sqlite_bell *bell, struct error *err)
{
    struct stat found;
    int file;

    if (!sqlite_neighbour_open(bell->path, &file, err))
        return false;
    int added = inotify_add_watch(bell->listen_fd, bell->path, IN_MODIFY | IN_ATTRIB);
    int reason = errno;
    bool is_known = added >= 0 && fstat(file, &found) == 0;
    close(file);
    if (!is_known)
        return error_errno(err, TH_E_UNAVAILABLE, reason, "sqlite: cannot watch %s", bell->path);
    bell->watch = added;
    bell->device = found.st_dev;
    bell->inode = found.st_ino;
    sqlite_bell_ring(bell);
    return true;
}

static bool start_listening(struct sqlite_bell *bell, struct error *err)
{
    bell->listen_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (bell->listen_fd < 0)
        return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: inotify");
    if (watch(bell, err))
        return true;
    close(bell->listen_fd);
    bell->listen_fd = -1;
    return false;
}

bool sqlite_bell_check(struct sqlite_bell *bell, struct error *err)
{
    struct stat found;
    struct error lost;

    if (bell->listen_fd < 0 || (stat(bell->path, &found) == 0 && found.st_dev == bell->device &&
                                found.st_ino == bell->inode))
        return true;
    error_set(&lost, TH_E_UNAVAILABLE, "sqlite: %s was deleted", bell->path);
    log_warning("bell_lost", "error=%s", lost.text);
    inotify_rm_watch(bell->listen_fd, bell->watch);
    return watch(bell, err);
}

bool sqlite_bell_listen_fd(struct sqlite_bell *bell, int *fd_out, struct error *err)
{
    if (bell->listen_fd < 0 && !start_listening(bell, err))
        return false;
    *fd_out = bell->listen_fd;
    return true;
}

static void quiet(const struct sqlite_bell *bell)
{
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

    while (read(bell->listen_fd, events, sizeof events) > 0)
        continue;
}

bool sqlite_bell_listen(struct sqlite_bell *bell, usec_t timeout, bool *rang_out, struct error *err)
{
    struct pollfd poll_fd = {.events = POLLIN};
    usec_t start = clock_boot();
    int ready;

    if (!sqlite_bell_listen_fd(bell, &poll_fd.fd, err))
        return false;
    do
        ready = poll(&poll_fd, 1, clock_poll_timeout(timeout - (clock_boot() - start)));
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: wait for %s", bell->path);
    *rang_out = ready > 0;
    if (ready == 0)
        return true;
    quiet(bell);
    return sqlite_bell_check(bell, err); /* its end is an event, too */
}

void sqlite_bell_done(struct sqlite_bell *bell)
{
    if (bell->ring_fd >= 0)
        close(bell->ring_fd);
    if (bell->listen_fd >= 0)
        close(bell->listen_fd);
    bell->ring_fd = bell->listen_fd = -1;
    free(bell->path);
    bell->path = NULL;
}
