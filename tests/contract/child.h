/*
 * child.h - what every process that a case forks has in common.
 *
 * A handle belongs to one process: it is closed before the fork, or opened after it. Nothing in a
 * child asserts: what goes wrong there is written to stderr and ends the child, and that ends the
 * case.
 */
#ifndef TESTS_CONTRACT_CHILD_H
#define TESTS_CONTRACT_CHILD_H

#include "base/base.h"
#include "base/error.h"
#include "store/store.h"

#include <sys/types.h>

/* Like fork(); the child ends when this process does, whatever ends it. */
pid_t child_fork(void);

/* Ends the process with the error's text unless `done`. */
void child_must(bool done, const struct error *err);

struct store *child_open(const char *url);

/* A store that goes away with its last user has one more as long as this process lives. */
struct keeper {
    pid_t pid; /* 0: there is none */
    int fd;
};

struct keeper keeper_start(const char *url);
void keeper_end(struct keeper *keeper);

#endif
