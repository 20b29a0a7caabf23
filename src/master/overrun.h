/*
 * overrun.h - ends what has been inside a plugin for too long.
 *
 * A worker enforces limits on the commands that it runs, but while a function of a plugin runs it
 * does nothing else. It leaves a mark on the scoreboard; the master looks at the marks, and sends
 * TERM to a worker whose run is over, and KILL when that has not helped for pool.kill_grace; or at
 * once, when the run's lease is lost.
 */
#ifndef MASTER_OVERRUN_H
#define MASTER_OVERRUN_H

#include "base/base.h"
#include "process/loop.h"
#include "process/message.h"
#include "process/scoreboard.h"

struct children;
struct error;
struct pool_config;
struct seat;

/* What was seen of the worker in a seat. Zeroed: nothing to object to. */
struct overrun_watch {
    enum stop_reason reason;
    struct hold hold; /* of the run that was sent TERM */
    usec_t kill_at;   /* boot time */
    bool is_killed;
};

struct overrun {
    const struct children *children;
    struct overrun_watch *watches; /* owned; of each seat */
    struct loop_timer timer;
};

/* What there is to know of a run. */
struct overrun_facts {
    struct plugin_mark mark;
    usec_t stop_at; /* when its lease has to be given up, boot time */
    unsigned flags; /* of its lease */
    bool is_stopping;
    usec_t now;
};

/* Whether the run has to stop. */
enum stop_reason overrun_reason(const struct overrun_facts *facts);

/* How long one that has to stop may take to return. */
usec_t overrun_grace(const struct overrun_facts *facts, const struct pool_config *pool);

/* Whether what was sent to it is what it ended by: it may have died by itself just before. */
bool overrun_did_kill(const struct overrun_watch *watch, int status);

bool overrun_init(struct overrun *overrun, const struct children *children,
                  struct error *err) MUST_CHECK;
void overrun_done(struct overrun *overrun);

/* Looks at all workers, at once and then as often as needed, if the config has plugins at all. */
void overrun_look(struct overrun *overrun);

/* A worker is about to be killed because it is stopped, and what it runs with it. */
void overrun_note_stopped(struct overrun *overrun, const struct seat *seat);

/* How a process that has ended did so. Before its slot is cleared. */
struct worker_end overrun_end_of(const struct overrun *overrun, const struct seat *seat,
                                 int status);

/* The next process in that seat is another one. */
void overrun_forget(struct overrun *overrun, const struct seat *seat);

#endif
