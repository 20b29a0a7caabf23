/*
 * bell.h - wakes the processes that wait for jobs in the same file.
 *
 * Ringing is one byte written to PATH-bell after the commit; listening is inotify on that file.
 * Events queue up in the kernel from the first listen on, so one that comes between a listener's
 * last look and its sleep ends the sleep at once. The first listen answers that the bell rang:
 * nobody knows what happened before it. Both sides notice when the file is deleted.
 */
#ifndef SQLITE_BELL_H
#define SQLITE_BELL_H

#include "base/base.h"
#include "base/error.h"

#include <sys/types.h>

struct sqlite_bell {
    char *path;    /* owned */
    int ring_fd;   /* -1 until the first ring */
    int listen_fd; /* -1 until the first listen */
    int watch;     /* of listen_fd, on the file of this number: */
    dev_t device;
    ino_t inode;
};

/* Best effort: listeners also look by themselves every few seconds. */
void sqlite_bell_ring(struct sqlite_bell *bell);

/* A file that was deleted rings for nobody: it is made anew, rings, and is logged (`bell_lost`). */
bool sqlite_bell_check(struct sqlite_bell *bell, struct error *err) MUST_CHECK;

bool sqlite_bell_listen_fd(struct sqlite_bell *bell, int *fd_out, struct error *err) MUST_CHECK;
bool sqlite_bell_listen(struct sqlite_bell *bell, usec_t timeout, bool *rang_out,
                        struct error *err) MUST_CHECK;

void sqlite_bell_done(struct sqlite_bell *bell);

#endif
