/*
 * roles.h - the table of processes: who they are, what they get, how many there are.
 */
#ifndef MASTER_ROLES_H
#define MASTER_ROLES_H

#include "base/base.h"
#include "master/listeners.h"
#include "process/message.h"

struct config;
struct process;

/* In the order in which they are started. */
enum role_id {
    ROLE_DISPATCHER,
    ROLE_HEARTBEATER,
    ROLE_SCHEDULER,
    ROLE_RETRIER,
    ROLE_REAPER,
    ROLE_GATE,
    ROLE_BROWSE,
    ROLE_HTTP,
    ROLE_WORKER,
    ROLES,
};

struct role {
    const char *name;
    int (*main)(struct process *process);
    bool store;       /* is told where the jobs are; everybody else must not know */
    bool hands_out;   /* has the end of the task socket that sends */
    bool works;       /* has the end that takes, and a result socket of its own */
    bool nudge;       /* has the eventfd that wakes the dispatcher */
    bool due;         /* has the one that wakes scheduler and retrier */
    bool is_numbered; /* "worker 3" */

    enum peer_kind peer; /* has sockets to doors, or from them: PEER_NONE */
    bool is_door;        /* has the socket that listens, and nothing that is secret */
    enum door door;

    int (*instances)(const struct config *config); /* NULL: one */
};

const struct role *roles_get(enum role_id id);

/* The doors that some role answers at: a bit for each. */
unsigned roles_doors(void);

/* How many processes of this role there are. */
int roles_instances(enum role_id id, const struct config *config);

/* How many there may be after a reload, in a pool that was started with this config. */
int roles_seats(enum role_id id, const struct config *config);

/* How many jobs such a pool holds at most: those handed out ahead of quick workers, and as many
 * again that wait to be settled. */
size_t roles_holds(const struct config *config);

/* How many jobs a worker may have at a time in such a pool, even after a reload. */
size_t roles_jobs(const struct config *config);

/* How many result rings workers can need: those that live, and those that ended a moment ago. */
size_t roles_result_rings(const struct config *config);

#endif
