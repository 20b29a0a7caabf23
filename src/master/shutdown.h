/*
 * shutdown.h - drain, TERM, KILL: how a pool ends.
 *
 *   phase          ends when                           at the latest after
 *   giving back    the dispatcher has exited           shutdown_timeout; stopping: kill_grace + 5 s
 *   others         workers and the other services are  2 s: they are killed
 *                  gone
 *   heartbeater    it has deregistered the pool        5 s: it is killed
 *   orphans        nobody is left                      -
 *
 * The heartbeater is the last to go: leases have to be extended as long as a job is held.
 */
#ifndef MASTER_SHUTDOWN_H
#define MASTER_SHUTDOWN_H

#include "base/base.h"
#include "process/loop.h"

struct child_seat;
struct master;

enum shutdown_phase {
    PHASE_NONE, /* nobody wants the pool to end */
    PHASE_GIVING_BACK,
    PHASE_OTHERS,
    PHASE_HEARTBEATER,
    PHASE_ORPHANS,
};

struct shutdown {
    enum shutdown_phase phase;
    struct loop_timer timer; /* of the phase */
};

void shutdown_init(struct master *master);

/* TERM or INT: the first one drains, the next one stops. */
void shutdown_ask(struct master *master, const char *reason);

/* QUIT: what runs is stopped. */
void shutdown_force(struct master *master, const char *reason);

/* What the end of a process means for the pool. */
enum shutdown_verdict {
    VERDICT_REPLACE,
    VERDICT_LET_GO,
    VERDICT_ALL_GIVEN_BACK, /* the dispatcher has nothing left to do */
    VERDICT_UNUSABLE,       /* no process like it can work here */
};

enum shutdown_verdict shutdown_judge(const struct master *master, const struct child_seat *seat,
                                     int status);

/* After every end of a process: the pool goes on, or takes its next step. */
void shutdown_follow(struct master *master, const struct child_seat *seat, int status,
                     enum shutdown_verdict verdict);

/* Nothing of any dead worker is left. */
void shutdown_note_cleared(struct master *master);

#endif
