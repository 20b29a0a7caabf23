/*
 * enqueue.h - complete and store: the one way in for C, thctl, HTTP and cron.
 *
 * Whether a job may be stored is the store's to say: job_validate(), once for each.
 */
#ifndef CLIENT_ENQUEUE_H
#define CLIENT_ENQUEUE_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "store/store.h"

#define ENQUEUE_BATCH 1000 /* jobs in one transaction when there are many */

/* What completes a job; one per producer. */
struct enqueue {
    struct uuid_maker ids;
    usec_t idempotency_window;
    size_t max_payload; /* for enqueue_prepare(); the store has its own */
};

struct enqueue enqueue_defaults(void);

/* Gives the job an id unless it has one, and dates its idempotency record. */
void enqueue_complete(struct enqueue *enqueue, struct job *job, usec_t now);

/* The same, and what the store will say of it, for those who refuse before they open one. */
bool enqueue_prepare(struct enqueue *enqueue, struct job *job, usec_t now,
                     struct error *err) MUST_CHECK;

/* Completes and stores all jobs or none. With several, the error names the one at fault by its
 * place, counted from 1: "job 3: ...". */
bool enqueue_jobs(struct enqueue *enqueue, struct store *store, struct job *jobs, size_t count,
                  usec_t now, struct enqueued *enqueued_out, struct error *err) MUST_CHECK;

#endif
