/*
 * pool_status.h - what a pool says about itself with each heartbeat: its processes, the queues that
 * it serves and the handlers that it has. periodic/status.h shows it.
 *
 * It may come from a pool of another version. So nothing is refused: what is not there, or not of
 * the kind expected, is absent, and what is unknown is kept as it was written.
 */
#ifndef CLIENT_POOL_STATUS_H
#define CLIENT_POOL_STATUS_H

#include "base/base.h"
#include "base/json.h"

struct arena;

/* Absent is NULL for text and 0 for moments. */
struct pool_process {
    const char *name;
    int64_t pid; /* 0: absent */
    const char *state;
    usec_t since;
    const char *job; /* its id; of several, that of the one that it has had longest */
    const char *type;
    int64_t progress_percent; /* -1: absent */
    const char *progress_text;
    int64_t jobs_running; /* -1: absent */
    int64_t jobs_done;    /* -1: absent */
};

struct pool_queue {
    const char *name;
    int64_t weight;      /* 0: absent */
    int64_t max_running; /* 0: no limit */
    const char *rate;    /* as written, "100/s"; NULL: no limit */
};

struct pool_handler {
    const char *pattern; /* a type, or a prefix with a trailing * */
    const char *kind;
    int64_t max_attempts; /* 0: absent */
    usec_t timeout;
};

struct pool_start_failure {
    const char *pattern; /* of a handler that cannot be started */
    const char *error;
    usec_t since, next_try;
};

/* Lists that a pool has not said are NULL, unlike those that are empty. */
struct pool_status {
    struct json_members members; /* all of it, as written */
    const char *version;
    const char *state;
    struct pool_process *processes;
    size_t process_count;
    struct pool_queue *queues;
    size_t queue_count;
    struct pool_handler *handlers;
    size_t handler_count;
    struct pool_start_failure *start_failures;
    size_t start_failure_count;
    usec_t heartbeat; /* how often it beats; 0: absent */
};

/* Everything lives in `arena` or points into `text`; out of memory shows in the arena. */
struct pool_status pool_status_read(struct bytes text, struct arena *arena);

/* The value of a member as written; absent when there is none. */
struct bytes pool_status_member(const struct json_members *members, const char *name);

/* The handler of this type: the longest match; NULL when there is none. */
const struct pool_handler *pool_status_handler(const struct pool_status *status, const char *type);

/* Whether it has missed its beats: three of them, or, where it does not say how often it beats, a
 * minute's. */
bool pool_status_is_silent(const struct pool_status *status, usec_t beat_at, usec_t now);

bool pool_process_is_worker(const struct pool_process *process);
bool pool_process_is_busy(const struct pool_process *process);

#endif
