/*
 * clearing.h - kills what dead workers left behind, until nobody is left.
 *
 * What a command started and its worker did not live to kill becomes a child of the master. Only
 * when all of them are gone does the dispatcher hear of the worker's end, and only then does the
 * pool end.
 *
 * A stranger is a child that is neither one of our processes nor left behind by one: it is spared.
 */
#ifndef MASTER_CLEARING_H
#define MASTER_CLEARING_H

#include "base/base.h"
#include "process/loop.h"

#include <sys/types.h>

struct children;
struct error;

struct clearing {
    const struct children *children;
    void (*cleared)(void *context); /* nobody is left */
    void *context;
    struct loop_timer timer; /* runs while somebody may be left */
    usec_t pause;            /* the last one between two passes; 0: none yet */
    pid_t *spared;           /* owned; strangers, then our processes */
    size_t stranger_count;
};

/* Before anything is forked: children that this process has by then are strangers. A shell that
 * started something in the background and then became thd leaves such. */
bool clearing_init(struct clearing *clearing, const struct children *children,
                   void (*cleared)(void *context), void *context, struct error *err) MUST_CHECK;
void clearing_done(struct clearing *clearing);

/* One stranger more: the thd that replaces us. There is one at a time. */
void clearing_spare(struct clearing *clearing, pid_t pid);

/* A child that is none of our processes has ended. */
void clearing_forget(struct clearing *clearing, pid_t pid);

/* From the next moment on, until nobody is left; then says so. */
void clearing_begin(struct clearing *clearing);

#endif
