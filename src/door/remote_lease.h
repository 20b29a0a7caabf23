/*
 * remote_lease.h - what a remote worker needs to speak of a job that it runs, to whatever door of
 * whatever thd.
 *
 * The worker keeps it as a text that means nothing to it. It is no secret of ours that is in there,
 * and nothing of it is believed: the store compares the lease's token, whose 128 random bits nobody
 * can guess.
 */
#ifndef DOOR_REMOTE_LEASE_H
#define DOOR_REMOTE_LEASE_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/lease.h"

struct arena;
struct buffer;
struct job;
struct unpack;

struct remote_lease {
    struct uuid job;
    bool is_foreign; /* the text is none of ours, or of another job: nothing below is set */
    const char *pool, *queue, *type;
    struct lease_token token;
    int64_t ref;
    int64_t executions;
    usec_t started_at;
    usec_t lease_for; /* what a heartbeat extends it by */
};

/* Of a job that was reserved just now; it points into the job. */
struct remote_lease remote_lease_of(const struct job *job, usec_t lease_for);

/* Adds the text. */
void remote_lease_write(struct buffer *text, const struct remote_lease *lease);

/* Of the job that the worker names. The names live in the arena. */
void remote_lease_read(const char *text, const struct uuid *job, struct arena *arena,
                       struct remote_lease *lease_out);

void remote_lease_pack(struct buffer *pack, const struct remote_lease *lease);
void remote_lease_unpack(struct unpack *unpack, struct remote_lease *lease_out);

#endif
