/*
 * spawn.h - starts a program: descriptors, signals, limits, user, death with the parent.
 *
 * A program gets exactly what struct spawn says, and nothing else of this process: every other
 * descriptor is closed, every signal has its default action, the mask is empty. It leads a session
 * and a process group of its own, and is killed when this process dies.
 */
#ifndef PROCESS_SPAWN_H
#define PROCESS_SPAWN_H

#include "base/base.h"

#include <sys/types.h>

struct account;
struct error;

#define SPAWN_FDS  4
#define SPAWN_KEEP (-1) /* a umask that stays as it is */

/* 0 is unlimited. A lower limit that already holds stays. */
struct spawn_limits {
    uint64_t memory; /* bytes of address space */
    usec_t cpu;      /* rounded up to seconds; SIGXCPU, then SIGKILL a second later */
    uint64_t files;  /* open descriptors */
};

struct spawn {
    const char *const *argv;        /* ends in NULL; a name without '/' is looked for in `path` */
    const char *path;               /* folders with ':' between; NULL: argv[0] is the file itself */
    const char *const *environment; /* ends in NULL */
    int fds[SPAWN_FDS];             /* become 0, 1, 2, 3; -1: closed there */
    const char *cwd;                /* NULL: stays */
    int umask;                      /* or SPAWN_KEEP */
    int nice;                       /* 0: stays */
    struct spawn_limits limits;
    const struct account *account; /* NULL: stays who we are */
    bool may_gain_privileges;      /* by set-user-ID programs */
};

/* A program that runs. Its pid is its process group too. Until it is waited for, neither can be
 * given to anybody else, so both may be signalled. */
struct child {
    pid_t pid;
    int pidfd; /* owned; readable when it has ended */
};

/* False when the program could not be started; the text names the step that failed, such as "exec
 * /bin/nothing: No such file or directory". No child is left behind then. */
bool spawn_start(const struct spawn *spawn, struct child *child_out, struct error *err) MUST_CHECK;

#endif
