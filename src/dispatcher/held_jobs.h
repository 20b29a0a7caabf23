/*
 * held_jobs.h - the jobs that this pool holds: reserved, and not settled yet.
 *
 * The states of one:
 *
 *                .---------------------.
 *                |                     v
 *   reserved ----+---> unsent ---> in_ring, sent ---> concluded ---> kept
 *                |       ^             ^
 *                `---> behind ---------'
 *
 *   from                    to                       by
 *   -                       reserved                 held_job_new(): exchange.c, recovery.c
 *   reserved                behind                   exchange.c: it came while another run is here
 *   reserved behind         unsent in_ring sent      handout.c: it is in the lease table
 *   unsent                  in_ring sent             handout.c: there is room again
 *   reserved                sent                     recovery.c: it was, by a dispatcher before us
 *   any of these            concluded                outbox.c
 *   concluded               kept                     outbox.c: the store could not settle it now
 *   -                       stray                    held_job_new_stray(): recovery.c
 *
 * From any of them it ends: it is settled, or not ours any more (conclude_silently()). Any other
 * change is a bug, and ends the dispatcher. tests/unit/dispatcher/test_held_jobs.c walks all pairs.
 *
 * How far a worker has come with it is in the lease table; here is what the dispatcher knows of it
 * besides.
 */
#ifndef DISPATCHER_HELD_JOBS_H
#define DISPATCHER_HELD_JOBS_H

#include "base/arena.h"
#include "base/base.h"
#include "job/job.h"
#include "job/stop_reason.h"
#include "process/lease_table.h"

struct config;
struct error;
struct handler_config;

enum held_state {
    HELD_RESERVED,
    HELD_BEHIND,  /* it waits for another run of the same job to be over here */
    HELD_UNSENT,  /* its task found no room */
    HELD_IN_RING, /* its task is where nobody can have it who has not started it */
    HELD_SENT, /* its task went into the socket: whoever received it may die before starting it */
    HELD_CONCLUDED, /* its settlement is in the outbox */
    HELD_KEPT,      /* and was sent, but could not be settled yet */
    HELD_STRAY,     /* not ours any more: only the end of its run is waited for */
};

#define HELD_STATES (HELD_STRAY + 1)

struct held_job {
    enum held_state state; /* changed by held_job_move() alone */
    struct hold hold;      /* HOLD_NONE: it is in no lease table */
    uint64_t number;       /* counts up as jobs are handed out */
    usec_t handed_at;      /* boot time */
    usec_t wrong_since;    /* boot time at which its word was seen to be damaged; 0: it is not */
    usec_t kept_until;     /* boot time; its lease has ended then, unless it is extended */

    /* What may be so in several states, each for a reason of its own. */
    enum stop_reason stop; /* why its run shall be stopped; STOP_NONE: it shall not */
    bool is_halted;        /* its worker has been told so */
    bool is_probe;         /* of a handler that could not be started */
    bool is_finished;      /* was, when the audit began */

    const struct handler_config *handler; /* NULL: there is none for its type */
    struct job_limits limits;             /* resolved */
    struct job job;                       /* its payload only as long as somebody may need it */
    struct arena arena;                   /* owns what `job` points to besides the names below */
    struct held_job *next_spare;
    char type[JOB_NAME_MAX + 1], queue[JOB_NAME_MAX + 1]; /* of the job, unless they are too long */
};

struct held_jobs {
    struct held_job **by_entry; /* owned, and so are they; those without a hold are in the outbox */
    size_t capacity;
    size_t extent; /* no job is at this entry or above */
    size_t count;  /* of those with a hold */
    uint64_t newest;
    struct held_job *spare; /* owned; what was given back is used again: no allocation per job */

    /* What the last job was matched with: they come in runs of one type. "": there was none. */
    char last_type[JOB_NAME_MAX + 1];
    const struct handler_config *last_handler;
};

bool held_jobs_init(struct held_jobs *jobs, size_t capacity, struct error *err) MUST_CHECK;
void held_jobs_done(struct held_jobs *jobs);

/* Of a reserved job, its payload left out. NULL when out of memory. */
struct held_job *held_job_new(struct held_jobs *jobs, const struct config *config,
                              const struct job *job) MUST_CHECK;

/* For a run whose job nobody knows. */
struct held_job *held_job_new_stray(struct held_jobs *jobs,
                                    const struct held_lease *lease) MUST_CHECK;
void held_job_free(struct held_job *held);

/* Instead of freeing it; it is in no lease table any more. */
void held_jobs_give_back(struct held_jobs *jobs, struct held_job *held);

/* Frees those that were given back. */
void held_jobs_trim(struct held_jobs *jobs);

/* The one way to another state; it has to be a legal one. */
void held_job_move(struct held_job *held, enum held_state to);
bool held_state_may_change(enum held_state from, enum held_state to);

/* Whether its end is decided: its settlement is in the outbox. */
static inline bool held_job_is_concluded(const struct held_job *held)
{
    return held->state == HELD_CONCLUDED || held->state == HELD_KEPT;
}

static inline bool held_job_has_hold(const struct held_job *held)
{
    return !hold_equal(held->hold, HOLD_NONE);
}

/* Copies it, for whoever needs it later. */
bool held_job_keep_payload(struct held_job *held, struct bytes payload) MUST_CHECK;

/* By its hold, which it has from here on. */
void held_jobs_put(struct held_jobs *jobs, struct held_job *held, struct hold hold);
void held_jobs_remove(struct held_jobs *jobs, struct held_job *held);

/* NULL: not (any more) ours. */
struct held_job *held_jobs_find(const struct held_jobs *jobs, struct hold hold);

/* The next one with a hold from *position on; NULL: no more. */
struct held_job *held_jobs_next(const struct held_jobs *jobs, size_t *position);

/* Whether so many wait for a worker at least: looks no further than it has to. */
bool held_jobs_have_waiting(const struct held_jobs *jobs, const struct lease_table *leases,
                            size_t count);

/* How they stand, by the lease table. */
struct held_jobs_census {
    size_t waiting;   /* handed out, not started */
    size_t running;   /* started, and no result yet */
    size_t concluded; /* and about to be settled */
    size_t unknown;   /* whether somebody runs them */
    uint64_t youngest_started;
};
struct held_jobs_census held_jobs_count(const struct held_jobs *jobs,
                                        const struct lease_table *leases);

#endif
