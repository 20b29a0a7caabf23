/*
 * pool_status.h - what a pool says about its processes with each heartbeat.
 *
 *   {"version":"0.1.0","state":"running","processes":[{"name":"worker
 * 3","pid":12,"state":"running",
 *    "since":"2026-01-31T10:00:00.000000Z","job":"…","type":"email:send",
 *    "progress":{"percent":40,"text":"resizing"},"jobs_done":17}]}
 *
 * It may come from a pool of another version. So nothing is refused: what is not there, or not of
 * the kind expected, is absent, and what is unknown is kept as it was written.
 */
#ifndef THCTL_POOL_STATUS_H
#define THCTL_POOL_STATUS_H

#include "base/base.h"
#include "base/json.h"

struct arena;

/* Absent is NULL for text and 0 for moments. */
struct pool_process {
    const char *name;
    int64_t pid; /* 0: absent */
    const char *state;
    usec_t since;
    const char *job; /* its id */
    const char *type;
    int64_t progress_percent; /* -1: absent */
    const char *progress_text;
    int64_t jobs_done; /* -1: absent */
};

struct pool_status {
    struct json_members members; /* all of it, as written */
    const char *version;
    const char *state;
    struct pool_process *processes;
    size_t process_count;
};

/* Everything lives in `arena` or points into `text`; out of memory shows in the arena. */
struct pool_status pool_status_read(struct bytes text, struct arena *arena);

/* The value of a member as written; absent when there is none. */
struct bytes pool_status_member(const struct json_members *members, const char *name);

bool pool_process_is_worker(const struct pool_process *process);
bool pool_process_is_busy(const struct pool_process *process);

#endif
