/*
 * this_pool.h - the pool that this thd runs: its config, its state, and what its processes share.
 *
 * All that the files of the master have in common. It has no job data and opens no store. Who runs
 * in the pool is in children.h.
 */
#ifndef MASTER_THIS_POOL_H
#define MASTER_THIS_POOL_H

#include "base/base.h"
#include "master/options.h"
#include "master/pool_name.h"
#include "master/pool_state.h"
#include "process/notify.h"

#include <sys/resource.h>
#include <sys/types.h>

struct config;
struct error;
struct generation;
struct known_clocks;
struct meters;
struct lease_table;
struct loop;
struct news_ring;
struct result_rings;
struct scoreboard;

struct this_pool {
    const struct master_options *options;
    struct generation *generation; /* shared; the newest */
    const struct config *config;   /* of that */
    struct pool_name name;
    pid_t master;
    enum pool_state state;
    bool is_paused;
    bool is_replacing; /* some service has not read the newest config */
    int exit_code;

    struct loop *loop; /* owned */
    struct notify notify;

    struct lease_table *leases;        /* owned; shared with all processes */
    struct scoreboard *scoreboard;     /* owned; shared with all processes */
    struct known_clocks *known_clocks; /* owned; shared with the services */
    struct meters *meters;             /* owned; shared with services and doors */
    struct news_ring *news_ring;       /* owned; the same */
    struct result_rings *result_rings; /* owned; shared with the dispatcher and the workers */
    int nudge, due;                    /* owned; of process.h */
    struct rlimit files;               /* how many descriptors we were allowed: jobs get that */
};

/* In place, with a log and a title, and nothing opened. */
void this_pool_init(struct this_pool *pool, const struct master_options *options);

/* The loop, the way to systemd, and room for descriptors. */
bool this_pool_open(struct this_pool *pool, struct error *err) MUST_CHECK;

/* What all processes share; at most so many there will be. */
bool this_pool_share(struct this_pool *pool, size_t processes, struct error *err) MUST_CHECK;

void this_pool_close(struct this_pool *pool);

/* The one way to change the state: from, to must be in the table of pool_state.h. */
void this_pool_enter(struct this_pool *pool, enum pool_state state);
void this_pool_set_paused(struct this_pool *pool, bool is_paused);

/* Whether it is on its way from one config to the next. */
void this_pool_set_replacing(struct this_pool *pool, bool is_replacing);

/* Takes the generation over: what is started from here on belongs to it. */
void this_pool_adopt(struct this_pool *pool, struct generation *generation);

/* So that so many workers can run. */
bool this_pool_raise_limits(const struct this_pool *pool, int workers,
                            struct error *err) MUST_CHECK;

/* To systemd: the pool is as it should be. */
void this_pool_tell_running(const struct this_pool *pool);

/* Opens the log again, for a process of the pool. */
void this_pool_open_log(const struct this_pool *pool, const char *process);

#endif
