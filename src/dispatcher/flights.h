/*
 * flights.h - the jobs that this pool holds: reserved, and not settled yet.
 *
 *     reserved -> handed (waits for a worker) -> started -> its result is here -> settled
 *
 * How far a worker has come with it is in the lease table; a flight is what the dispatcher knows of
 * it besides.
 */
#ifndef DISPATCHER_FLIGHTS_H
#define DISPATCHER_FLIGHTS_H

#include "base/arena.h"
#include "base/base.h"
#include "job/job.h"
#include "process/lease_table.h"
#include "process/message.h"

struct config;
struct error;
struct handler_config;

struct flight {
    struct arena arena; /* owns what `job` points to besides the two names below */
    struct job job;     /* its payload only as long as somebody may need it */
    const struct handler_config *handler; /* NULL: there is none for its type */
    struct job_limits limits;             /* resolved */
    bool is_stray; /* not ours any more; only the end of its run is waited for */
    bool has_hold; /* it is in the lease table */
    struct hold hold;
    uint64_t number;    /* counts up as jobs are handed out */
    usec_t handed_at;   /* boot time */
    bool is_sent;       /* the task is in the task ring, or has gone into the socket */
    bool is_in_ring;    /* in the task ring: nobody can have it who has not started it */
    bool is_behind;     /* another run of the job is not over here: not sent before that */
    bool is_probe;      /* of a handler that could not be started */
    bool is_finished;   /* was, when the audit began */
    usec_t wrong_since; /* boot time at which its word was seen to be damaged; 0: it is not */
    bool is_concluded;  /* its settlement is in the outbox */
    bool is_kept;       /* and was sent, but could not be settled yet */
    usec_t kept_until;  /* boot time; its lease has ended then, unless it is extended */
    bool wants_halt, is_halted; /* its worker shall stop it; has been told */
    enum halt_reason halt;
    char names[]; /* type and queue of the job: one allocation for most jobs, and a small one */
};

struct flights {
    struct flight **by_entry; /* owned, and so are they; those without a hold are in the outbox */
    size_t capacity;
    size_t extent; /* no flight is at this entry or above */
    size_t count;  /* of those with a hold */
    uint64_t newest;
};

bool flights_init(struct flights *flights, size_t capacity, struct error *err) MUST_CHECK;
void flights_done(struct flights *flights);

/* A flight for a reserved job, its payload left out. NULL when out of memory. */
struct flight *flight_new(const struct config *config, const struct job *job) MUST_CHECK;

/* One for a run that nobody knows the job of. */
struct flight *flight_new_stray(const struct held_lease *lease) MUST_CHECK;
void flight_free(struct flight *flight);

/* Copies it, for whoever needs it later. */
bool flight_keep_payload(struct flight *flight, struct bytes payload) MUST_CHECK;

/* By its hold, which it has from here on. */
void flights_put(struct flights *flights, struct flight *flight, struct hold hold);
void flights_remove(struct flights *flights, struct flight *flight);

/* NULL: not (any more) ours. */
struct flight *flights_find(const struct flights *flights, struct hold hold);

/* The next one with a hold from *position on; NULL: no more. */
struct flight *flights_next(const struct flights *flights, size_t *position);

/* How they stand, by the lease table. */
struct flights_census {
    size_t waiting;   /* handed out, not started */
    size_t running;   /* started, and no result yet */
    size_t concluded; /* and about to be settled */
    size_t unknown;   /* whether somebody runs them */
    uint64_t youngest_started;
    usec_t oldest_waiting; /* boot time at which it was handed out; 0: none waits */
};
struct flights_census flights_count(const struct flights *flights,
                                    const struct lease_table *leases);

#endif
