/*
 * workers.h - the workers of this pool; the sockets and rings that their results come from.
 */
#ifndef DISPATCHER_WORKERS_H
#define DISPATCHER_WORKERS_H

#include "base/base.h"
#include "process/loop.h"
#include "process/message.h"

struct error;
struct result_rings;

/* Exchanges that may be out at once: flights.h. */
#define FLIGHTS_MAX 2

/* Results that were looked at. */
struct looked_results {
    size_t in_ring, in_socket;
};

struct worker_link {
    int number; /* as people know it */
    uint32_t serial;
    int pid;
    int socket; /* owned */
    int result_ring;
    struct loop_watch watch;
    bool has_news; /* something may be in its socket */
    size_t looked; /* results in its socket that were looked at and are not settled yet */
    struct looked_results flown[FLIGHTS_MAX]; /* those of its results that each flight settles */
    bool has_ended;
    struct worker_end end; /* if it has */
    int printed;           /* owned; if it has: what its plugins have printed; -1: it had none */
    bool is_concluded;     /* its end has been told to its jobs */
    bool has_lied;         /* it has given what is no result of its own, and that was logged */
    int missed;            /* how often a job was waiting in vain since this one started any */
    size_t running, limit; /* jobs, and how many they may become; as of the last count */
    bool is_held;          /* one of its results waits for a part of the store: none is taken off */
    struct worker_link *next;
    struct worker_link *next_alike; /* whose serial falls into the same part of the index */
};

#define WORKERS_INDEX 256

struct workers {
    struct loop *loop;
    struct result_rings *result_rings;
    struct worker_link *first; /* owned */
    struct worker_link *index[WORKERS_INDEX];
    bool is_crowded; /* jobs wait that can join none of those that run */
};

/* A worker was started; `socket` is ours from here on. */
bool workers_add(struct workers *workers, const struct order *order, int socket,
                 struct error *err) MUST_CHECK;
/* It has ended; `printed` is ours from here on, and may be -1. */
void workers_note_end(struct workers *workers, const struct order *order, int printed);
struct worker_link *workers_find(const struct workers *workers, uint32_t serial);
void workers_remove(struct workers *workers, struct worker_link *link);
void workers_done(struct workers *workers);

/* Those that live. */
size_t workers_count(const struct workers *workers);

/* Whether this one can give more results while none is taken off. */
bool workers_have_room(const struct workers *workers, const struct worker_link *link);

/* Whether one has ended of which something is left to settle. */
bool workers_have_ended(const struct workers *workers);

/* All that was looked at, and is with no flight yet, goes with this one. */
void workers_note_flight(struct workers *workers, size_t flight);
/* It is settled, and taken off; or only known to be with no flight any more. */
bool workers_take_flown(struct workers *workers, size_t flight, struct error *err) MUST_CHECK;
void workers_forget_flight(struct workers *workers, size_t flight);

/* Takes off what was looked at, now that it is settled, but for workers that are held. */
bool workers_take_looked(struct workers *workers, struct error *err) MUST_CHECK;

#endif
