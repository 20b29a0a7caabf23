/*
 * <taskharbor/client.h> - enqueue, look, settle, from C and C++.
 *
 *     struct th_client *client;
 *     struct th_failure failure;
 *     struct th_new_job job = TH_NEW_JOB("email:send");
 *     struct th_receipt receipt;
 *
 *     job.payload = "{\"to\":\"a@b.c\"}";
 *     if (!th_open("sqlite:/srv/jobs.db", NULL, &client, &failure) ||
 *         !th_enqueue(client, &job, &receipt, &failure))
 *         fprintf(stderr, "%s: %s\n", th_error_name(failure.code), failure.text);
 *     th_close(client);
 *
 * Calls. A call that can fail returns true when it worked. When it returns false, it has changed
 * nothing unless the code is TH_E_UNCERTAIN, has set the pointers it should have returned to NULL,
 * and has filled in *failure. On success *failure is left alone. `failure` may be NULL
 * everywhere. Links with: pkg-config --cflags --libs taskharbor.
 *
 * Codes that any call on a client may fail with:
 *   TH_E_INVALID      an argument is wrong, and the text names it; or the handle was opened by
 *                     another process
 *   TH_E_UNAVAILABLE  the backend is away or busy: try again later
 *   TH_E_UNCERTAIN    the request was sent and no answer came
 *   TH_E_SCHEMA       the backend's schema does not fit this library
 *   TH_E_NO_MEMORY    out of memory
 *   TH_E_INTERNAL     a bug in the library; the text says where
 * Others are named at the call. A call waits for a busy backend for about 5 seconds at most.
 *
 * Threads and processes. A client belongs to one thread and one process at a time. Threads that
 * work at once open one each. A process that forks does so first and opens afterwards: in a child,
 * a client of the parent is refused, and th_close() lets go of its memory only.
 *
 * Text is UTF-8 that ends in NUL. What you pass in is yours, is only read, and is not needed after
 * the call. What you get is yours to free with the function named at the call.
 *
 * Binary compatibility. Structs that you fill in begin with `size`, which their initialiser sets:
 * a program keeps working with a newer library, which takes the defaults for what the program's
 * header did not have yet. Structs that the library allocates only grow at their end; never copy
 * them, and never take their sizeof. struct th_failure and struct th_receipt stay as they are.
 */
#ifndef TASKHARBOR_CLIENT_H
#define TASKHARBOR_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <taskharbor/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define TH_API        __attribute__((visibility("default")))
#define TH_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TH_API
#define TH_MUST_CHECK
#endif

/* Microseconds: a moment since 1970-01-01 00:00 UTC, or a duration. A moment of 0 is absent. */
typedef int64_t th_usec;

#define TH_SECONDS(n) ((th_usec)(n)*1000000)
#define TH_FOREVER    ((th_usec)0x7fffffffffffffff)

/* Room for an id such as "0193f0a2-7c1d-7abc-8def-0123456789ab" and its NUL. */
#define TH_ID_SIZE 40

/* What went wrong: a code to branch on and a sentence for people, without secrets. */
#define TH_FAILURE_TEXT_SIZE 1024

struct th_failure {
    enum th_error_code code;
    char text[TH_FAILURE_TEXT_SIZE];
};

/* "not_found" for TH_E_NOT_FOUND, "unknown" for a number that is not a code. Never free it. */
TH_API const char *th_error_name(enum th_error_code code);

/* The version of the library in use, such as "0.1.0"; TH_VERSION in <taskharbor/version.h> is the
 * one of the headers. Never free it. */
TH_API const char *th_version(void);

/* ---- states ---- */

/* New states may be added at the end. */
enum th_state {
    TH_STATE_ANY = 0,       /* in filters only */
    TH_STATE_SCHEDULED = 1, /* waits for its time */
    TH_STATE_READY = 2,     /* waits for a worker */
    TH_STATE_BLOCKED = 3,   /* waits for the running job with the same key */
    TH_STATE_RUNNING = 4,
    TH_STATE_RETRY = 5, /* failed, waits for its next attempt */
    TH_STATE_DONE = 6,
    TH_STATE_DEAD = 7, /* failed for good; th_retry() revives it */
    TH_STATE_CANCELLED = 8
};

/* "ready"; "any" for TH_STATE_ANY, "unknown" for a number that is not a state. Never free it. */
TH_API const char *th_state_name(enum th_state state);

/* Whether it is done, dead or cancelled. */
TH_API bool th_state_has_ended(enum th_state state);

/* ---- open and close ---- */

struct th_client;

struct th_options {
    size_t size;                /* set by TH_OPTIONS */
    size_t max_payload;         /* largest payload in bytes, up to 16 MiB; 0 is 1 MiB */
    th_usec idempotency_window; /* how long an idempotency key holds; 0 is 24 hours */
    int migrate;  /* 1: create what is missing and bring the schema up to date; 0: fail then */
    int reserved; /* leave it 0 */
};

/* struct th_options options = TH_OPTIONS; */
#define TH_OPTIONS                                                                                 \
    {                                                                                              \
        sizeof(struct th_options), 0, 0, 1, 0                                                      \
    }

/*
 * Opens a backend: "sqlite:/srv/jobs.db", "sqlite:jobs.db?synchronous=normal" (relative to the
 * current folder), "postgres://user@host/db", "redis://host:6379/0"; or, for tests, "memory:",
 * which ends with the client, and "memory:name", which all clients of that name share. A NULL url
 * is the value of the environment variable TASKHARBOR_BACKEND. NULL options are TH_OPTIONS.
 *
 * TH_E_INVALID: the URL is wrong or nobody serves it. TH_E_SCHEMA: the schema is too new for this
 * library, or is missing or too old and `migrate` is 0. Close *client_out with th_close().
 */
TH_API TH_MUST_CHECK bool th_open(const char *url, const struct th_options *options,
                                  struct th_client **client_out, struct th_failure *failure);

/* NULL is fine. */
TH_API void th_close(struct th_client *client);

/* The backend's time, which run_at is compared with: job.run_at = th_now(client) + TH_SECONDS(60).
 * 0 when client is NULL. */
TH_API th_usec th_now(const struct th_client *client);

/* ---- enqueue ---- */

enum th_encoding {
    TH_ENCODING_JSON = 0, /* checked when it is enqueued */
    TH_ENCODING_RAW = 1   /* any bytes */
};

/* For payload_size: the payload is text, up to its NUL. */
#define TH_TEXT ((size_t)-1)

/* What a job whose `key` is that of a waiting job does with that one's run_at. */
enum th_update_run_at {
    TH_UPDATE_ALWAYS = 0,
    TH_UPDATE_NEVER = 1,
    TH_UPDATE_IF_EARLIER = 2,
    TH_UPDATE_IF_LATER = 3
};

/* A job to enqueue. Only the type is required. Names are 1 to 128 of A-Za-z0-9_.:- */
struct th_new_job {
    size_t size;       /* set by TH_NEW_JOB */
    const char *type;  /* picks the handler, such as "email:send" */
    const char *id;    /* a UUID; NULL: the library makes one. See TH_E_UNCERTAIN below */
    const char *queue; /* NULL: "default" */

    const void *payload;         /* NULL: null as JSON, no bytes as raw */
    size_t payload_size;         /* in bytes; TH_TEXT, the default: up to the payload's NUL */
    enum th_encoding encoding;   /* JSON, unless you say so */
    int priority;                /* 0, the most urgent, to 9; the default is 5 */
    th_usec run_at;              /* not before; 0: now */
    th_usec timeout;             /* of one execution; 0: the handler's */
    int max_attempts;            /* failures allowed; 0: the handler's */
    int max_stalls;              /* lost leases allowed; 0: the handler's */
    const char *key;             /* one waits and one runs at most per queue and key; NULL: none */
    const char *idempotency_key; /* stored once per queue and window; NULL or blank: none */

    /* When a job with this key waits already, it is changed instead: */
    enum th_update_run_at update_run_at;
    int update_payload; /* 1, the default: payload, encoding, headers, tags and priority are
                         * replaced; 0: kept */
    int update_retry;   /* 1, the default: max_attempts, max_stalls and timeout are replaced */
    int reset_counts;   /* 1: attempts and stalls start at 0 again; 0 is the default */

    const char *headers;     /* a JSON object for the handler, at most 8 KiB; NULL: none */
    const char *const *tags; /* up to 8 names to list it by, each once */
    size_t tag_count;
};

/* struct th_new_job job = TH_NEW_JOB("email:send"); */
#define TH_NEW_JOB(job_type)                                                                       \
    {                                                                                              \
        sizeof(struct th_new_job), (job_type), NULL, NULL, NULL, TH_TEXT, TH_ENCODING_JSON, 5, 0,  \
            0, 0, 0, NULL, NULL, TH_UPDATE_ALWAYS, 1, 1, 0, NULL, NULL, 0                          \
    }

/* The answer to an enqueue. */
struct th_receipt {
    char id[TH_ID_SIZE]; /* of the job that now stands for the request */
    enum th_state state; /* of that job */
    int existed;         /* 1: its idempotency key or id was there already; nothing was changed */
    int updated;         /* 1: a waiting job with the same key was changed instead */
    int reserved[3];     /* 0 */
};

/*
 * Stores a job; it is durable when this returns. `receipt_out` may be NULL.
 *
 * TH_E_INVALID: a field is wrong, and the text names it. TH_E_CONFLICT: a waiting job with this key
 * has another type. TH_E_UNCERTAIN: the receipt has the id that was sent; put it into job->id and
 * call again: if the job was stored after all, `existed` says so.
 */
TH_API TH_MUST_CHECK bool th_enqueue(struct th_client *client, const struct th_new_job *job,
                                     struct th_receipt *receipt_out, struct th_failure *failure);

/*
 * Stores all of them or none, in order and in one transaction; a thousand at a time is a good
 * measure. `receipts_out` has room for `count`, or is NULL. An error that is one job's names it by
 * its place, counted from 1: "job 3: ...". A count of 0 succeeds. Otherwise like th_enqueue().
 */
TH_API TH_MUST_CHECK bool th_enqueue_many(struct th_client *client, const struct th_new_job *jobs,
                                          size_t count, struct th_receipt *receipts_out,
                                          struct th_failure *failure);

/* ---- look ---- */

/* One execution of a job. */
struct th_run_info {
    int64_t execution;          /* counted from 1 */
    const char *pool;           /* who ran it */
    int worker;                 /* counted from 1; 0: it never reached one */
    int exit_code;              /* -1: none */
    int signal;                 /* 0: none */
    th_usec started_at;         /* 0: it never started */
    th_usec wall, user, system; /* time it took, CPU time it used */
    int64_t max_rss_kb;         /* peak memory of its largest process */
    const char *outcome;        /* "done", "retry", "dead", "released", "snoozed", "cancelled" or
                                 * "stalled" */
    const char *error;          /* NULL: none */
};

/* A job as it is stored. Text that is absent is NULL, a moment that is absent is 0. */
struct th_job_info {
    const char *id;
    const char *type;
    const char *queue;
    enum th_state state;
    enum th_encoding encoding;
    const void *payload; /* NULL: none */
    size_t payload_size;
    int priority;
    int attempts;       /* failures so far */
    int max_attempts;   /* 0: the handler's */
    int stalls;         /* leases lost so far */
    int max_stalls;     /* 0: the handler's */
    int64_t executions; /* started so far, never reset */
    th_usec timeout;    /* 0: the handler's */
    const char *key;
    const char *idempotency_key;

    th_usec run_at;
    th_usec created_at;
    th_usec started_at; /* of the newest execution */
    th_usec ended_at;
    th_usec cancel_requested_at;
    const char *merged_into; /* the id of the job with the same key that took over */

    const char *pool; /* of the newest execution */
    int worker;
    int progress_percent; /* -1: none reported */
    const char *progress_text;
    const void *result; /* what the handler gave back; NULL: nothing */
    size_t result_size;
    const void *output; /* the end of what it printed, which may be any bytes; NULL: nothing */
    size_t output_size;

    /* Of the newest failure. */
    const char *last_error;
    th_usec failed_at;
    const char *reason; /* of a dead job: "exhausted", "permanent", "stalled", "no_handler",
                         * "invalid_payload" or "cannot_start" */
    int exit_code;      /* -1: none */
    int signal;         /* 0: none */

    const struct th_run_info *const *runs; /* the newest executions, oldest first */
    size_t run_count;

    const char *headers; /* a JSON object as it was written */
    const char *const *tags;
    size_t tag_count;
};

/* TH_E_NOT_FOUND: there is no job with this id. Free *job_out with th_job_info_free(). */
TH_API TH_MUST_CHECK bool th_get(struct th_client *client, const char *id,
                                 struct th_job_info **job_out, struct th_failure *failure);

/* NULL is fine. */
TH_API void th_job_info_free(struct th_job_info *job);

#define TH_CURSOR_SIZE 68

struct th_filter {
    size_t size;                /* set by TH_FILTER */
    const char *queue;          /* NULL: any */
    const char *type;           /* NULL: any */
    const char *key;            /* NULL: any */
    const char *error;          /* a part of the last error; NULL: any */
    th_usec since, until;       /* since <= t < until of the time that the order goes by, in
                                 * microseconds since 1970; 0: unbounded */
    char after[TH_CURSOR_SIZE]; /* the `next` of the page before; "": from the start */
    enum th_state state;        /* TH_STATE_ANY, the default: any */
    int limit;                  /* jobs in a page, 1 to 1000; 0: 100 */
    int oldest_first;           /* 0: the newest first */
    int brief;                  /* not 0: without payload, headers, result, output and runs */
    int reserved;
    const char *tag; /* NULL: any */
};

/* struct th_filter filter = TH_FILTER; */
#define TH_FILTER                                                                                  \
    {                                                                                              \
        sizeof(struct th_filter), NULL, NULL, NULL, NULL, 0, 0, "", TH_STATE_ANY, 0, 0, 0, 0, NULL \
    }

/* Some of the jobs that fit a filter. */
struct th_page {
    const struct th_job_info *const *jobs;
    size_t count;
    char next[TH_CURSOR_SIZE]; /* the filter's `after` for the next page; "": this is the last */
};

/*
 * The jobs that fit, in order of what their state is about: waiting jobs by the time they are due,
 * running ones by started_at, ended ones by ended_at. Without a state, and with a tag, all go by
 * id, which is the order in which the ids were made. All pages:
 *
 *     do {
 *         if (!th_list(client, &filter, &page, &failure))
 *             ...
 *         memcpy(filter.after, page->next, TH_CURSOR_SIZE);
 *         th_page_free(page);
 *     } while (filter.after[0] != '\0');
 *
 * `next` is a position: it holds whatever becomes of the jobs, for a filter with the same state and
 * order. A page may have fewer jobs than its limit, or none, and still have a `next`: when it
 * reaches 16 MiB, and when none of the 10,000 jobs that one call looks at had that type, key or
 * error. NULL is TH_FILTER. Free *page_out with th_page_free().
 */
TH_API TH_MUST_CHECK bool th_list(struct th_client *client, const struct th_filter *filter,
                                  struct th_page **page_out, struct th_failure *failure);

/* Frees the jobs in it, too. NULL is fine. */
TH_API void th_page_free(struct th_page *page);

/* Sees a job on its way; false stops waiting. `job` is valid until it returns. It may use the
 * client, and must return: no longjmp, no exception. */
typedef bool (*th_seen)(const struct th_job_info *job, void *context);

/*
 * Waits until the job has ended, for `timeout` at most: 0 only looks, TH_FOREVER has no end. `seen`
 * is called when the job is first seen and when its state or progress has changed since; NULL is
 * nobody. Also true when the time is over or `seen` said stop: th_state_has_ended() of
 * (*job_out)->state tells which. A backend that goes away is waited for. It looks at least every
 * 250 ms, so what comes and goes faster than that may not be seen.
 *
 * TH_E_NOT_FOUND: there is no such job, or it was removed meanwhile, as retention does with ended
 * ones. TH_E_UNAVAILABLE: the backend was away when the time was over. Free *job_out with
 * th_job_info_free().
 */
TH_API TH_MUST_CHECK bool th_wait(struct th_client *client, const char *id, th_usec timeout,
                                  th_seen seen, void *context, struct th_job_info **job_out,
                                  struct th_failure *failure);

/* A queue in numbers. */
struct th_queue_info {
    const char *queue;
    th_usec paused_at; /* 0: it is not paused */
    int64_t scheduled, ready, blocked, running, retry, done, dead, cancelled; /* jobs now */
    th_usec oldest_ready; /* since when its first ready job could run; 0: none is ready */
    int64_t done_total;   /* ever */
    int64_t failed_total; /* executions that failed, ever */
    /* Of the ready ones, set aside: no pool of the queue has a handler for their type; it cannot be
     * started. */
    int64_t no_handler, cannot_start;
};

struct th_stats {
    const struct th_queue_info *const *queues; /* by name */
    size_t count;
};

/* Every queue that was ever used. Free *stats_out with th_stats_free(). */
TH_API TH_MUST_CHECK bool th_stats(struct th_client *client, struct th_stats **stats_out,
                                   struct th_failure *failure);

/* NULL is fine. */
TH_API void th_stats_free(struct th_stats *stats);

/* ---- settle and steer ---- */

/* A waiting job is cancelled at once; a running one is asked to stop, and ends as cancelled unless
 * it is done first. TH_E_NOT_FOUND: no such job. TH_E_CONFLICT: it has ended. */
TH_API TH_MUST_CHECK bool th_cancel(struct th_client *client, const char *id,
                                    struct th_failure *failure);

/* A dead or cancelled job waits again, from `run_at` on (0: now), with attempts, stalls and errors
 * cleared. TH_E_NOT_FOUND: no such job. TH_E_CONFLICT: it is neither dead nor cancelled, or
 * another job with its key waits. */
TH_API TH_MUST_CHECK bool th_retry(struct th_client *client, const char *id, th_usec run_at,
                                   struct th_failure *failure);

/* A scheduled job, or one that waits for its next attempt, is ready now, its counts kept; one that
 * is ready stays so. TH_E_NOT_FOUND: no such job. TH_E_CONFLICT: it is blocked or running, or has
 * ended. */
TH_API TH_MUST_CHECK bool th_run(struct th_client *client, const char *id,
                                 struct th_failure *failure);

/* Deletes an ended job and frees its idempotency key. TH_E_NOT_FOUND: no such job.
 * TH_E_CONFLICT: it has not ended. */
TH_API TH_MUST_CHECK bool th_remove(struct th_client *client, const char *id,
                                    struct th_failure *failure);

/* No job of a paused queue is started; running ones go on, and new ones are accepted. The queue is
 * created if need be. Doing it again is fine. */
TH_API TH_MUST_CHECK bool th_pause(struct th_client *client, const char *queue,
                                   struct th_failure *failure);
TH_API TH_MUST_CHECK bool th_resume(struct th_client *client, const char *queue,
                                    struct th_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
