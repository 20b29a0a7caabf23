/*
 * invocation.h - how this thd was started, so that another one can be started the same way.
 *
 * Not /proc/self/exe: that is the file that runs, and an upgrade wants the one that has been put in
 * its place. For the same reason links are not followed here.
 */
#ifndef MASTER_INVOCATION_H
#define MASTER_INVOCATION_H

#include "base/base.h"

struct error;

struct invocation {
    char *path;        /* owned; absolute; NULL: it was not found */
    char *const *argv; /* ends in NULL */
    const char *wiped; /* in argv: where the store's URL was typed, before it was wiped; or NULL */
};

/* The file that argv[0] names, found as a shell does: in `folders`, with ':' between, unless it has
 * a '/'. Freed by the caller. */
bool invocation_find(const char *name, const char *folders, char **path_out,
                     struct error *err) MUST_CHECK;

/* argv with the URL put back where it was wiped. Freed by the caller, and only the list: what it
 * points to is kept, for a process that is about to become that program. NULL: out of memory. */
char **invocation_arguments(const struct invocation *invocation, const char *url) MUST_CHECK;

#endif
