/*
 * held_jobs.h - the jobs that this pool holds: reserved, and not settled yet.
 *
 *     reserved -> handed (waits for a worker) -> started -> its result is here -> settled
 *
 * How far a worker has come with it is in the lease table; here is what the dispatcher knows of
 * it besides.
 */
#ifndef DISPATCHER_HELD_JOBS_H
#define DISPATCHER_HELD_JOBS_H

#include "base/arena.h"
#include "base/base.h"
#include "job/job.h"
#include "process/lease_table.h"
#include "process/message.h"

struct config;
struct error;
struct handler_config;

struct held_job {
    struct arena arena; /* owns what `job` points to besides the two names below */
    struct job job;     /* its payload only as long as somebody may need it */
    const struct handler_config *handler; /* NULL: there is none for its type */
    struct job_limits limits;             /* resolved */
    bool is_stray; /* not ours any more; only the end of its run is waited for */
    bool has_hold; /* it is in the lease table */
    struct hold hold;
    uint64_t number;    /* counts up as jobs are handed out */
    usec_t handed_at;   /* boot time */
    bool is_sent;       /* the task is in the rack, or has gone into the socket */
    bool is_racked;     /* in the rack: nobody can have it who has not started it */
    bool is_behind;     /* another run of the job is not over here: not sent before that */
    bool is_probe;      /* of a handler that could not be started */
    bool is_finished;   /* was, when the audit began */
    usec_t wrong_since; /* boot time at which its word was seen to be damaged; 0: it is not */
    bool is_concluded;  /* its settlement is in the outbox */
    bool is_kept;       /* and was sent, but could not be settled yet */
    usec_t kept_until;  /* boot time; its lease has ended then, unless it is extended */
    bool wants_halt, is_halted; /* its worker shall stop it; has been told */
    enum stop_reason halt;
    char names[]; /* type and queue of the job: one allocation for most jobs, and a small one */
};

struct held_jobs {
    struct held_job **by_entry; /* owned, and so are they; those without a hold are in the outbox */
    size_t capacity;
    size_t extent; /* no job is at this entry or above */
    size_t count;  /* of those with a hold */
    uint64_t newest;
};

bool held_jobs_init(struct held_jobs *jobs, size_t capacity, struct error *err) MUST_CHECK;
void held_jobs_done(struct held_jobs *jobs);

/* Of a reserved job, its payload left out. NULL when out of memory. */
struct held_job *held_job_new(const struct config *config, const struct job *job) MUST_CHECK;

/* One for a run that nobody knows the job of. */
struct held_job *held_job_new_stray(const struct held_lease *lease) MUST_CHECK;
void held_job_free(struct held_job *held);

/* Copies it, for whoever needs it later. */
bool held_job_keep_payload(struct held_job *held, struct bytes payload) MUST_CHECK;

/* By its hold, which it has from here on. */
void held_jobs_put(struct held_jobs *jobs, struct held_job *held, struct hold hold);
void held_jobs_remove(struct held_jobs *jobs, struct held_job *held);

/* NULL: not (any more) ours. */
struct held_job *held_jobs_find(const struct held_jobs *jobs, struct hold hold);

/* The next one with a hold from *position on; NULL: no more. */
struct held_job *held_jobs_next(const struct held_jobs *jobs, size_t *position);

/* How they stand, by the lease table. */
struct held_jobs_census {
    size_t waiting;   /* handed out, not started */
    size_t running;   /* started, and no result yet */
    size_t concluded; /* and about to be settled */
    size_t unknown;   /* whether somebody runs them */
    uint64_t youngest_started;
    usec_t oldest_waiting; /* boot time at which it was handed out; 0: none waits */
};
struct held_jobs_census held_jobs_count(const struct held_jobs *jobs,
                                        const struct lease_table *leases);

#endif
