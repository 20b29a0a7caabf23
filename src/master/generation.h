/*
 * generation.h - one config, and all that was made of it before anything was forked.
 *
 * A reload makes a new generation. A process keeps the one that it was forked with, so a pool may
 * have several for a while: an old one ends with its last process. A task names its handler by its
 * place in the config, so each generation has a task ring and a socket for tasks of its own: what a
 * dispatcher hands out is taken only by workers that have read the same config.
 */
#ifndef MASTER_GENERATION_H
#define MASTER_GENERATION_H

#include "base/arena.h"
#include "base/base.h"
#include "config/config.h"

struct error;
struct task_ring;
struct start_board;
struct worker_handlers;

struct generation {
    unsigned number; /* 1 is the config that thd was started with */
    unsigned users;
    struct config config;
    const struct worker_handlers *handlers;
    struct arena arena;              /* what they were made of */
    struct task_ring *task_ring;     /* owned */
    struct start_board *start_board; /* owned */
    int tasks[2];                    /* owned: the dispatcher's end, the workers' end */
};

/* Takes the config over if it works, and leaves it empty then. One user: the caller. At most this
 * many jobs are held. */
bool generation_new(struct config *config, size_t holds, struct generation **generation_out,
                    struct error *err) MUST_CHECK;

/* One user more. */
struct generation *generation_join(struct generation *generation);

/* One user less; the last one frees it. */
void generation_leave(struct generation **generation);

#endif
