/*
 * master.h - `thd: master`: forks the pool's processes, keeps them alive, and ends them.
 *
 * The states of the pool and every legal change are in pool_state.h.
 */
#ifndef MASTER_MASTER_H
#define MASTER_MASTER_H

#include "base/base.h"
#include "master/children.h"
#include "master/clearing.h"
#include "master/invocation.h"
#include "master/ledger.h"
#include "master/pool_name.h"
#include "master/pool_state.h"
#include "master/reload.h"
#include "master/shutdown.h"
#include "master/upgrade.h"
#include "process/loop.h"
#include "process/notify.h"

#include <sys/resource.h>
#include <sys/types.h>

struct config;
struct diagnostics;
struct generation;
struct lease_table;
struct scoreboard;

struct master_options {
    struct generation *generation;   /* taken over */
    char *backend;                   /* the store's URL; wiped in processes that must not know it */
    const char *backend_shown;       /* without secrets */
    bool backend_is_typed;           /* the config does not lead to it */
    const char *backend_source;      /* who says so; for the start only */
    const char *backend_passed_over; /* what others say instead; NULL: nobody does */
    bool backend_is_private;         /* no other thd can use it */
    bool once;                       /* run until nothing is ready */
    struct invocation invocation;    /* how we were started */

    /* The config as the file has it now, with what the command line says. False when it cannot be
     * used; the diagnostics have the places, if there are any, and err says it in one sentence. */
    bool (*reread)(void *context, const char *path, struct config *config_out,
                   struct diagnostics *diagnostics, struct error *err);
    void *context;
};

/* All that the master knows. It has no job data and opens no store. */
struct master {
    const struct master_options *options;
    struct generation *generation; /* shared; the newest */
    const struct config *config;   /* of that */
    struct pool_name name;
    pid_t pid;
    enum pool_state state;
    bool is_paused;
    int exit_code;

    struct loop *loop; /* owned */
    struct notify notify;
    struct loop_timer log_timer, watchdog_timer, pulse_timer, overrun_timer;

    struct lease_table *leases;        /* owned; shared with all processes */
    struct scoreboard *scoreboard;     /* owned; shared with all processes */
    struct result_rings *result_rings; /* owned; shared with the dispatcher and the workers */
    int nudge;                         /* owned */
    struct rlimit files;               /* how many descriptors we were allowed: jobs get that */

    struct children children;
    struct ledger ledger;
    struct clearing clearing;
    struct shutdown shutdown;
    struct reload reload;
    struct upgrade upgrade;
};

/* Runs a pool until it has ended. Returns the exit code of thd. */
int master_run(const struct master_options *options);

/* The one way to change the state: from, to must be in the table of pool_state.h. */
void master_enter(struct master *master, enum pool_state state);

/* A process has reported ready: was it the last one? */
void master_note_ready(struct master *master);

/* Takes the generation over: what is started from here on belongs to it. */
void master_adopt(struct master *master, struct generation *generation);

/* So that so many workers can run. */
bool master_raise_limits(struct master *master, int workers, struct error *err) MUST_CHECK;

/* To systemd: the pool is as it should be. */
void master_tell_running(const struct master *master);

/* To whoever looks at ps. */
void master_show(const struct master *master);

#endif
