/*
 * seat.h - one place in the process tree, which one process after the other fills.
 */
#ifndef MASTER_SEAT_H
#define MASTER_SEAT_H

#include "base/base.h"
#include "master/restart.h"
#include "master/roles.h"
#include "process/loop.h"

#include <sys/types.h>

struct children;
struct order;
struct generation;
struct this_pool;

struct seat {
    struct this_pool *pool;
    struct children *children; /* whose it is */
    enum role_id role;
    int number;  /* of a worker, 1 and up; 0: a service */
    size_t slot; /* of the scoreboard, and of all that is kept per seat */
    char name[32];

    /* Of the process that fills it now. A pid that is not 0 has not been waited for, and may be
     * signalled. */
    pid_t pid;
    uint32_t serial;
    int result_ring;               /* of a worker */
    usec_t started_at;             /* boot time */
    struct generation *generation; /* shared */
    bool is_ready;
    bool is_retiring; /* has been told to make room for the next one */
    int control;      /* owned; -1: none */
    struct loop_watch control_watch;

    bool was_ever_ready;
    struct restart restart;
    struct loop_timer restart_timer; /* runs while it waits for its next process */
};

/* Whether the config wants a process there. */
bool seat_is_wanted(const struct seat *seat);

/* Whether its process has read the newest config. */
bool seat_is_current(const struct seat *seat);

/* ---- to the process there, if it runs ---- */

/* `fd` goes along unless it is -1; it stays the caller's. */
void seat_tell(struct seat *seat, const struct order *order, int fd);

/* Tells it, once, to make room for the next one. */
void seat_retire(struct seat *seat);

/* Asks it for a sign of life. */
void seat_ask(struct seat *seat);

/* Tells it to exit. */
void seat_dismiss(struct seat *seat);

void seat_kill(struct seat *seat);

#endif
