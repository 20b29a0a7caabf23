/*
 * scratch.h - a folder in memory that goes away with its last user.
 *
 * Every user holds a shared lock on the folder's file `users`; whoever leaves and gets the
 * exclusive lock was the last one, and removes the folder. The kernel drops the locks of users that
 * were killed, so each new user also removes the folders that such users left behind.
 */
#ifndef SQLITE_SCRATCH_H
#define SQLITE_SCRATCH_H

#include "base/base.h"
#include "base/error.h"

struct sqlite_scratch {
    char *folder; /* owned; NULL: there is none */
    int lock;
};

/* The folder of this name, made if need be. */
bool sqlite_scratch_enter(const char *name, struct sqlite_scratch *scratch_out,
                          struct error *err) MUST_CHECK;

/* Fine on a zeroed one. */
void sqlite_scratch_leave(struct sqlite_scratch *scratch);

#endif
