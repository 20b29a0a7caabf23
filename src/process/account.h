/*
 * account.h - whom a program runs as: what the system knows of a user.
 */
#ifndef PROCESS_ACCOUNT_H
#define PROCESS_ACCOUNT_H

#include "base/base.h"

#include <sys/types.h>

struct arena;
struct error;

struct account {
    const char *name;
    const char *home;
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* all of them, gid among them */
    size_t group_count;
    bool is_self; /* who this process is already: nothing to change */
};

/* By name; NULL is this process' own user, which need not have a name. Asks the system's user
 * database, which may take its time: look it up once. */
bool account_find(const char *name, struct arena *arena, struct account *account_out,
                  struct error *err) MUST_CHECK;

/* Makes an attempt as that user, in a child process, and returns what it returned: 0, or errno for
 * why not. The attempt must change nothing. */
int account_try(const struct account *account, int (*attempt)(const char *path), const char *path);

#endif
