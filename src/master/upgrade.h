/*
 * upgrade.h - USR2: a new thd beside this one, which takes its place.
 *
 *     USR2 --> fork and exec: the file that this thd was started from, as it is now; with the same
 *              arguments and variables, and one end of a pipe
 *          --> it is ready, and says so through the pipe: systemd hears of it, this pool drains
 *          --> or it ends before: all goes on as before
 *
 * Both pools work for a while, under names of their own. The new one is a child of this process,
 * but none of its pool: it is not killed with what is left of the pool, and it does not die with
 * us.
 */
#ifndef MASTER_UPGRADE_H
#define MASTER_UPGRADE_H

#include "base/base.h"
#include "process/loop.h"

#include <sys/types.h>

struct clearing;
struct error;
struct shutdown;
struct this_pool;

struct upgrade {
    struct this_pool *pool;
    struct clearing *clearing;
    struct shutdown *shutdown;
    pid_t pid; /* of the new thd; 0: there is none */
    int ready; /* owned; our end of the pipe; -1: nobody is waited for */
    struct loop_watch watch;

    int announce; /* owned; the other end, in the new thd; -1: nobody waits for us */
};

/* In a new thd it takes the pipe that came with it. */
bool upgrade_init(struct upgrade *upgrade, struct this_pool *pool, struct clearing *clearing,
                  struct shutdown *shutdown, struct error *err) MUST_CHECK;
void upgrade_done(struct upgrade *upgrade);

/* In a new thd: its pool is ready. */
void upgrade_announce(struct upgrade *upgrade);

/* USR2. */
void upgrade_ask(struct upgrade *upgrade);

/* Whether a new thd has been started that is not ready yet. */
bool upgrade_is_under_way(const struct upgrade *upgrade);

/* Somebody wants this pool to end: one that is not ready yet is not wanted either. */
void upgrade_call_off(struct upgrade *upgrade);

/* A child that is none of our processes has ended: the new thd, perhaps. */
void upgrade_note_end(struct upgrade *upgrade, pid_t pid, int status);

#endif
