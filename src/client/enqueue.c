/*
 * enqueue.c - complete and store: the one way in for C, thctl, HTTP and cron.
 *
 * A job that is completed keeps its id, so whoever got no answer can send the same job again: the
 * store then says that it existed.
 */
#include "client/enqueue.h"

#include "base/timestamp.h"
#include "job/idempotency.h"

struct enqueue enqueue_defaults(void)
{
    return (struct enqueue){
        .idempotency_window = IDEMPOTENCY_WINDOW_DEFAULT,
        .max_payload = JOB_PAYLOAD_DEFAULT,
    };
}

static usec_t later(usec_t now, usec_t duration)
{
    return duration > TIMESTAMP_MAX - now ? TIMESTAMP_MAX : now + duration;
}

void enqueue_complete(struct enqueue *enqueue, struct job *job, usec_t now)
{
    job->id_is_given = !uuid_is_nil(&job->id);
    if (!job->id_is_given)
        job->id = uuid_make(&enqueue->ids, now);
    job->idempotency_expires =
        idempotency_key_counts(job->idempotency_key) ? later(now, enqueue->idempotency_window) : 0;
}

bool enqueue_prepare(struct enqueue *enqueue, struct job *job, usec_t now, struct error *err)
{
    enqueue_complete(enqueue, job, now);
    return job_validate(job, enqueue->max_payload, err);
}

bool enqueue_jobs(struct enqueue *enqueue, struct store *store, struct job *jobs, size_t count,
                  usec_t now, struct enqueued *enqueued_out, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        enqueue_complete(enqueue, &jobs[i], now);
    return store_enqueue(store, jobs, count, now, enqueued_out, err);
}
