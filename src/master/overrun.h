/*
 * overrun.h - ends what is for too long inside a plugin.
 *
 * A worker enforces limits on the commands that it runs, but while a function of a plugin runs it
 * does nothing else. It leaves a mark on the scoreboard; the master looks at the marks, and sends
 * TERM to a worker whose run is over, and KILL when that has not helped for pool.kill_grace; or at
 * once, when the run's lease is lost.
 */
#ifndef MASTER_OVERRUN_H
#define MASTER_OVERRUN_H

#include "base/base.h"
#include "process/message.h"
#include "process/scoreboard.h"

struct child_seat;
struct pool_config;
struct master;

/* What was seen of one worker. Zeroed: nothing to object to. */
struct overrun {
    enum stop_reason reason;
    struct hold hold; /* of the run that was sent TERM */
    usec_t kill_at;   /* boot time */
    bool is_killed;
};

/* What there is to know of a run. */
struct overrun_facts {
    struct plugin_mark mark;
    usec_t stop_at; /* when its lease has to be given up, boot time */
    unsigned flags; /* of its lease */
    bool is_stopping;
    usec_t now;
};

/* Whether the run shall stop. */
enum stop_reason overrun_reason(const struct overrun_facts *facts);

/* How long one that shall stop may take to return. */
usec_t overrun_grace(const struct overrun_facts *facts, const struct pool_config *pool);

/* Looks at all workers as often as needed, if the config has plugins at all. */
void overrun_start(struct master *master);

/* At once: the pool stops. */
void overrun_look(struct master *master);

/* A worker is about to be killed because it is stopped, and what it runs with it. */
void overrun_note_stopped(struct child_seat *seat);

/* How a worker that has ended did so. Before its slot is cleared. */
struct worker_end overrun_end_of(const struct child_seat *seat, int status);

#endif
