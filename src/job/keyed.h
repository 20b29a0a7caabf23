/*
 * keyed.h - jobs with one key: per queue and key at most one waits and at most one runs.
 *
 *   enqueue while one waits       the waiting one is updated, as the newcomer's flags say
 *   enqueue while one runs        the newcomer is blocked until the running one ends
 *   the running one returns       the blocked one is merged into it, as the blocked one's flags say
 *
 * Both updates are the same function. A store reads the fields of the two jobs, asks keyed_merge()
 * and writes what comes back; stores that cannot call C follow the same table (tests/vectors).
 */
#ifndef JOB_KEYED_H
#define JOB_KEYED_H

#include "base/base.h"

enum update_run_at {
    UPDATE_RUN_AT_ALWAYS = 0,
    UPDATE_RUN_AT_NEVER = 1,
    UPDATE_RUN_AT_IF_EARLIER = 2,
    UPDATE_RUN_AT_IF_LATER = 3,
};

struct keyed_flags {
    bool payload; /* payload, encoding, headers, tags and priority */
    enum update_run_at run_at;
    bool retry;        /* max_attempts, max_stalls and timeout */
    bool reset_counts; /* attempts and stalls */
};

/* payload, always, retry, no reset: what an enqueue without flags does. */
extern const struct keyed_flags keyed_flags_default;

/* The flags in three bits and two: what a store keeps with a waiting keyed job. They lie in
 * databases, so a bit keeps its meaning forever. */
enum keyed_bits {
    KEYED_PAYLOAD = 1 << 0,
    KEYED_RETRY = 1 << 1,
    KEYED_RESET_COUNTS = 1 << 2,
};

#define KEYED_RUN_AT_SHIFT 3
#define KEYED_RUN_AT_MASK  3
#define KEYED_FLAGS        31 /* all of them */

int keyed_flags_pack(struct keyed_flags flags);
struct keyed_flags keyed_flags_unpack(int packed);

/* What a blocked job is merged by after a second one was merged into it: whatever either of them
 * asked for. */
struct keyed_flags keyed_flags_join(struct keyed_flags first, struct keyed_flags second);

const char *update_run_at_name(enum update_run_at when);
bool update_run_at_parse(const char *name, enum update_run_at *when_out) MUST_CHECK;

/* What a merge may change. `due` is run_at, or the time of enqueueing where run_at is absent. */
struct keyed_fields {
    int priority;
    usec_t run_at, due;
    usec_t timeout;
    int max_attempts, max_stalls;
    int attempts, stalls;
};

struct keyed_merge {
    struct keyed_fields fields; /* of the waiting job from now on */
    bool take_payload;          /* and the newcomer's payload, encoding, headers and tags */
    bool moved;                 /* due has changed: its state is ready or scheduled again */
};

struct keyed_merge keyed_merge(const struct keyed_fields *waiting,
                               const struct keyed_fields *newcomer, struct keyed_flags flags);

#endif
