/*
 * shutdown.h - drain, TERM, KILL: how a pool ends.
 *
 *   phase          ends when                           at the latest after
 *   giving back    the dispatcher has exited           shutdown_timeout; stopping: kill_grace + 5 s
 *   doors          nobody comes in any more            2 s: they are killed
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

struct children;
struct clearing;
struct overrun;
struct seat;

enum shutdown_phase {
    PHASE_NONE, /* nobody wants the pool to end */
    PHASE_GIVING_BACK,
    PHASE_DOORS,
    PHASE_OTHERS,
    PHASE_HEARTBEATER,
    PHASE_ORPHANS,
};

struct shutdown {
    struct children *children;
    struct clearing *clearing;
    struct overrun *overrun;
    enum shutdown_phase phase;
    struct loop_timer timer; /* of the phase */
};

void shutdown_init(struct shutdown *shutdown, struct children *children, struct clearing *clearing,
                   struct overrun *overrun);

/* TERM or INT: the first one drains, the next one stops. */
void shutdown_ask(struct shutdown *shutdown, const char *reason);

/* QUIT: what runs is stopped. */
void shutdown_force(struct shutdown *shutdown, const char *reason);

/* Another thd listens in our place. */
void shutdown_end_doors(struct shutdown *shutdown);

/* What the end of a process means for the pool. */
enum shutdown_verdict {
    VERDICT_REPLACE,
    VERDICT_LET_GO,
    VERDICT_ALL_GIVEN_BACK, /* the dispatcher has nothing left to do */
    VERDICT_UNUSABLE,       /* no process like it can work here */
};

enum shutdown_verdict shutdown_judge(const struct shutdown *shutdown, const struct seat *seat,
                                     int status);

/* After every end of a process: the pool goes on, or takes its next step. */
void shutdown_follow(struct shutdown *shutdown, const struct seat *seat, int status,
                     enum shutdown_verdict verdict);

/* Nothing of any dead worker is left. */
void shutdown_note_cleared(struct shutdown *shutdown);

#endif
