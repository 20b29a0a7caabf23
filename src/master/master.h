/*
 * master.h - `thd: master`: forks the pool's processes, keeps them alive, and ends them.
 *
 * The states of the pool and every legal change are in pool_state.h.
 */
#ifndef MASTER_MASTER_H
#define MASTER_MASTER_H

#include "base/base.h"
#include "master/briefing.h"
#include "master/children.h"
#include "master/clearing.h"
#include "master/ledger.h"
#include "master/pool_name.h"
#include "master/pool_state.h"
#include "master/shutdown.h"
#include "process/loop.h"
#include "process/notify.h"

#include <sys/resource.h>
#include <sys/types.h>

struct config;
struct lease_table;
struct scoreboard;
struct worker_handlers;

struct master_options {
    const struct config *config;
    char *backend;             /* the store's URL; wiped in processes that must not know it */
    const char *backend_shown; /* without secrets */
    bool backend_is_typed;     /* the config does not lead to it */
    bool once;                 /* run until nothing is ready */
    const struct worker_handlers *handlers;
};

/* All that the master knows. It has no job data and opens no store. */
struct master {
    const struct master_options *options;
    const struct config *config;
    struct pool_name name;
    pid_t pid;
    enum pool_state state;
    bool is_paused;
    int exit_code;

    struct loop *loop; /* owned */
    struct notify notify;
    struct loop_timer log_timer, watchdog_timer, pulse_timer, overrun_timer;

    struct lease_table *leases;    /* owned; shared with all processes */
    struct scoreboard *scoreboard; /* owned; shared with all processes */
    int tasks[2];                  /* owned: the dispatcher's end, the workers' end */
    int nudge;                     /* owned */
    struct rlimit files;           /* how many descriptors we were allowed: jobs get that */

    struct children children;
    struct ledger ledger;
    struct briefing briefing;
    struct clearing clearing;
    struct shutdown shutdown;
};

/* Runs a pool until it has ended. Returns the exit code of thd. */
int master_run(const struct master_options *options);

/* The one way to change the state: from, to must be in the table of pool_state.h. */
void master_enter(struct master *master, enum pool_state state);

/* A process has reported ready: was it the last one? */
void master_note_ready(struct master *master);

#endif
