/*
 * state.h - what the dispatcher knows; its parts work on it.
 *
 * What the master wants of it:
 *
 *   from                      to         by dispatcher.c, on
 *   serving                   paused     ORDER_PAUSE: reserve nothing, give back the unstarted
 *   paused                    serving    ORDER_RESUME
 *   serving paused            draining   ORDER_DRAIN: as paused, and end when nothing is held
 *   serving paused draining   stopping   ORDER_STOP: as draining, and stop what runs
 *   any but ended             ended      ORDER_EXIT, ORDER_RETIRE, nothing left to do, a failure
 *
 * An order that would lead elsewhere, as one to pause while it drains, changes nothing.
 *
 * Whether the store answers, which is nobody's order, and so a life of its own:
 *
 *   from             to        by store_handle.c
 *   unseen away      answers   it was opened, and what this pool holds is known
 *   answers          away      a call failed; it is tried again
 *
 * Any other change is a bug, and ends the dispatcher. tests/unit/dispatcher/test_dispatcher_state.c
 * walks all pairs of both.
 */
#ifndef DISPATCHER_STATE_H
#define DISPATCHER_STATE_H

#include "base/base.h"
#include "base/uuid.h"
#include "dispatcher/flights.h"
#include "dispatcher/held_jobs.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queues.h"
#include "dispatcher/workers.h"
#include "job/timekeeper.h"
#include "process/loop.h"
#include "process/outage.h"

#define DISPATCHER_TOLD_TYPES 32

struct config;
struct process;
struct start;
struct store;

enum dispatcher_state {
    DISPATCHER_SERVING,
    DISPATCHER_PAUSED,
    DISPATCHER_DRAINING,
    DISPATCHER_STOPPING,
    DISPATCHER_ENDED,
};

#define DISPATCHER_STATES (DISPATCHER_ENDED + 1)

enum store_state {
    STORE_UNSEEN, /* it has not answered yet, so we do not know what this pool holds */
    STORE_ANSWERS,
    STORE_AWAY,
};

#define STORE_STATES (STORE_AWAY + 1)

/* What the next turn shall see to. No states: any of them may be there at any time, and each is
 * taken off by whoever does it. */
enum chore {
    CHORE_HEAR_BELL = 1 << 0,  /* it has rung */
    CHORE_PROVE_BELL = 1 << 1, /* it has to be proved again that it is heard */
    CHORE_PUBLISH = 1 << 2,    /* producers by SQL or script do not know our limits yet */
    CHORE_RECOVER = 1 << 3,    /* look once more for what the store may have reserved for us */
    CHORE_AUDIT = 1 << 4,      /* look for results that never come */
    CHORE_HEED_FLAGS = 1 << 5, /* leases were lost, or jobs are to be cancelled */
    CHORE_TELL_HALTS = 1 << 6, /* somebody has to be told to stop */
    CHORE_SEND_REST = 1 << 7,  /* a task waits for room in the socket */
    CHORE_TELL_DUE = 1 << 8,   /* scheduler and retrier have to look what is due */
};

/* One reading of the clocks, when a turn begins and when the store has answered: what is done with
 * a thousand jobs in between needs no thousand readings. What depends on when exactly something was
 * asked reads a clock itself. */
struct moment {
    usec_t boot;
    usec_t store;  /* by the database's clock */
    usec_t offset; /* of the database's clock from this machine's */
};

struct dispatcher {
    struct process *process;
    const struct config *config;
    enum dispatcher_state state; /* changed by dispatcher_enter() alone */
    unsigned chores;             /* set of enum chore */
    struct moment now;

    enum store_state store_state; /* changed by dispatcher_note_store() alone */
    struct store *store;          /* owned; NULL until it was opened */
    struct timekeeper clock;      /* of whichever store it is */
    struct outage outage;
    usec_t retry_at;   /* boot time at which a store that does not answer is tried again */
    usec_t recover_at; /* boot time before which nobody looks again for what we hold */
    struct uuid_maker ids;

    struct held_jobs held_jobs;
    struct outbox outbox;
    struct flights flights;
    struct queues queues;
    struct workers workers;
    struct start *starts; /* owned; one per handler */

    usec_t look_at; /* boot time of the next look at what is aside */
    struct loop_timer look_timer;
    char told_types[DISPATCHER_TOLD_TYPES][JOB_NAME_MAX + 1]; /* without a handler, and warned of */
    size_t told_count;

    usec_t last_exchange;     /* boot time at which it began */
    size_t quick, last_quick; /* jobs that were quickly done, or needed no worker, since the last
                               * exchange, and the one before */
    size_t last_count, last_bytes; /* what the last exchange brought, and its payloads */
    size_t unrung;                 /* tasks that were handed out without waking anybody yet */

    struct loop_watch bell, nudge;
    struct loop_timer scan_timer, check_timer, retry_timer, give_up_timer, pace_timer, limit_timer;
    int64_t turns;
    usec_t give_up_at; /* boot time; 0: never */
    int exit_code;     /* when it has ended */
};

/* The one way to another state; it has to be a legal one. */
void dispatcher_enter(struct dispatcher *dispatcher, enum dispatcher_state to);
bool dispatcher_state_may_change(enum dispatcher_state from, enum dispatcher_state to);
void dispatcher_note_store(struct dispatcher *dispatcher, enum store_state to);
bool store_state_may_change(enum store_state from, enum store_state to);

/* Enters DISPATCHER_ENDED, unless it has ended before. */
void dispatcher_end(struct dispatcher *dispatcher, int exit_code);

void dispatcher_add(struct dispatcher *dispatcher, enum chore what);
/* Whether it is to be done; from here on it is not. */
bool dispatcher_take(struct dispatcher *dispatcher, enum chore what);

/* Into dispatcher->now. There has to be a store. */
void dispatcher_read_clocks(struct dispatcher *dispatcher);

/* Neither we nor a dispatcher before us have handed out anything that is not settled. */
bool dispatcher_holds_nothing(const struct dispatcher *dispatcher);

#endif
