/*
 * remotes.h - remote workers, each of them a pool of its own in the store.
 *
 * One is registered with its first claim and beats with its claims and heartbeats, not more often
 * than other pools do. What it runs is known by what it claimed here, or has told a heartbeat of
 * here: it may speak to other gates as well, and the one that it spoke to last shows its jobs.
 */
#ifndef GATE_REMOTES_H
#define GATE_REMOTES_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/uuid.h"
#include "door/claim_call.h"
#include "job/job.h"
#include "store/store.h"

struct error;
struct gate;
struct remote_lease;

#define REMOTE_HOST_SIZE 256

struct remote_job {
    struct uuid id;
    char type[JOB_NAME_MAX + 1];
    usec_t since;
};

struct remote {
    struct remote *next;
    char name[JOB_NAME_MAX + 1];
    char host[REMOTE_HOST_SIZE];
    usec_t beat_at;          /* boot time; 0: not yet */
    usec_t seen_at;          /* boot time */
    bool is_due;             /* it beats in this turn */
    bool is_changed;         /* its status */
    enum remote_state state; /* what is wanted of it */
    struct buffer offer;     /* queues and types, as a part of its status */
    struct remote_job *jobs; /* owned */
    size_t job_count, job_capacity;

    /* While they beat. */
    size_t first_lease, lease_count;
    struct buffer status;
};

struct remotes {
    struct remote *first; /* owned */
};

/* The pool of that name; NULL: out of memory. It stays where it is during a turn. */
struct remote *remotes_get(struct gate *gate, const char *name);

/* What a claim says about its worker. */
void remote_note_claim(struct remote *remote, const struct claim_call *call);

void remote_note_job(struct remote *remote, const struct remote_lease *lease);
void remote_note_end(struct remote *remote, const struct uuid *job);

/* It has been heard of; it beats in the next remotes_run(), unless it just has. */
void remote_touch(const struct gate *gate, struct remote *remote);

/* A lease that one of them extends. */
struct remote_beat {
    struct remote *remote;
    struct lease_beat lease;
    struct lease_answer answer;
};

/* All beats that are due, and these, with one call of the store; then what is wanted of each is
 * known. */
bool remotes_run(struct gate *gate, struct remote_beat *beats, size_t count,
                 struct error *err) MUST_CHECK;

void remotes_done(struct gate *gate);

#endif
