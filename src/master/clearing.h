/*
 * clearing.h - kills what dead workers left behind, until nobody is left.
 *
 * What a command started and its worker did not live to kill becomes a child of the master. Only
 * when all of them are gone does the dispatcher hear of the worker's end, and only then does the
 * pool end.
 */
#ifndef MASTER_CLEARING_H
#define MASTER_CLEARING_H

#include "base/base.h"
#include "process/loop.h"

#include <sys/types.h>

struct error;
struct master;

struct clearing {
    struct loop_timer timer; /* runs while somebody may be left */
    usec_t pause;            /* before the last pass */
    pid_t *spared;           /* owned; strangers, our processes, and the thd that replaces us */
    size_t stranger_count;
};

/* Before anything is forked: children that this process has by then are not ours to kill. A shell
 * that started something in the background and then became thd leaves such. */
bool clearing_init(struct master *master, struct error *err) MUST_CHECK;
void clearing_done(struct clearing *clearing);

/* A child that is none of our processes has ended. */
void clearing_forget(struct clearing *clearing, pid_t pid);

/* From the next moment on, until nobody is left; then tells the dispatcher and the shutdown. */
void clearing_begin(struct master *master);

#endif
