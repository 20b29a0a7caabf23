/*
 * why.h - what a job waits for, and what would help.
 *
 *   code          of a job that
 *   due_later     is scheduled, or waits for its next attempt
 *   key           is blocked by the running job with its key
 *   paused        is in a paused queue
 *   no_pool       is in a queue that no live pool serves
 *   no_handler    has a type that no live pool of its queue handles
 *   cannot_start  has a handler that cannot be started
 *   max_running   is in a queue of which as many run as may
 *   rate          is in a queue that has started as many as it may for now
 *   turn          will be taken when those before it have been
 *   running       runs
 *   pool_silent   runs, but its pool has not been heard of
 *   ended         has ended
 *
 * The first that applies, in the order of the table; whether a job runs or has ended is known by
 * its state. Whoever asks gathers the facts: client/why_look.h.
 */
#ifndef JOB_WHY_H
#define JOB_WHY_H

#include "base/base.h"
#include "base/units.h"
#include "base/uuid.h"

struct job;
struct json_writer;

#define WHY_JOBS_MAX   10
#define WHY_BEFORE_MAX 10000
#define WHY_TEXT_SIZE  640

enum why_code {
    WHY_DUE_LATER,
    WHY_KEY,
    WHY_PAUSED,
    WHY_NO_POOL,
    WHY_NO_HANDLER,
    WHY_CANNOT_START,
    WHY_MAX_RUNNING,
    WHY_RATE,
    WHY_TURN,
    WHY_RUNNING,
    WHY_POOL_SILENT,
    WHY_ENDED,
};

#define WHY_CODES 12

/* A pool that may be live, as far as this job is concerned. */
struct why_pool {
    const char *name;
    bool is_silent, is_draining;
    bool serves;             /* the job's queue; so does one that does not say */
    bool handles;            /* the job's type; so does one that does not say */
    int64_t max_running;     /* of the queue; 0: no limit */
    struct units_rate rate;  /* of the queue; count 0: no limit */
    const char *start_error; /* why its handler cannot be started; NULL: it can, or nobody tried */
    usec_t start_since, next_try;
};

/* What is not needed to decide may be absent. */
struct why_facts {
    const struct job *job;
    usec_t now;
    usec_t paused_at; /* of its queue; 0: it is not */
    const char *paused_by;
    const struct why_pool *pools;
    size_t pool_count;
    const char *close_queue, *close_type;   /* what others are called that may be meant, or NULL */
    int64_t running;                        /* jobs of its queue that run */
    struct uuid running_jobs[WHY_JOBS_MAX]; /* the first of them; of a blocked job: its twin */
    size_t running_count;
    usec_t spent_until; /* of its queue's rate: rate.h */
    size_t before;      /* ready jobs before it, counted to WHY_BEFORE_MAX */
    /* How many of its queue have been done lately, and in how much time. */
    int64_t done;
    usec_t done_in;
};

/* What is absent is NULL, 0, or -1 for `before`. */
struct why {
    enum why_code code;
    const char *by;    /* who paused it */
    const char *pool;  /* that runs it */
    const char *error; /* why its handler cannot be started */
    usec_t since;      /* paused, set aside, running or ended */
    usec_t
        until; /* when that ends, or may: due, free, the next try, the end of the lease, its turn */
    int64_t limit; /* max_running */
    int64_t before;
    struct uuid jobs[WHY_JOBS_MAX]; /* that it waits for */
    size_t job_count;
    char text[WHY_TEXT_SIZE]; /* a sentence */
    char help[WHY_TEXT_SIZE]; /* another: what would help; "" when nothing is amiss */
};

/* Points into the facts. */
void why_decide(const struct why_facts *facts, struct why *why_out);

/* Whether that is all there is to say of a waiting job. */
bool why_is_due_later(const struct job *job, usec_t now);

const char *why_code_name(enum why_code code);

/* why_words.c: fills in text and help. */
void why_tell(const struct why_facts *facts, struct why *why);

/* As an object; NULL is null. */
void why_json_add(struct json_writer *json, const char *name, const struct why *why);

#endif
