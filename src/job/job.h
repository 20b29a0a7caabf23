/*
 * job.h - a job: its fields, defaults and limits.
 *
 * One struct for all of a job's life. What a producer fills in comes first; the rest is the
 * store's record of what happened. Absent is NULL for text, 0 for moments, durations and limits.
 */
#ifndef JOB_JOB_H
#define JOB_JOB_H

#include "base/arena.h"
#include "base/base.h"
#include "base/uuid.h"
#include "job/keyed.h"
#include "job/lease.h"
#include "job/state.h"
#include "job/tags.h"

struct error;
struct why;

#define JOB_NAME_MAX         128 /* type and queue */
#define JOB_KEY_MAX          256 /* key and idempotency_key */
#define JOB_PRIORITY_DEFAULT 5
#define JOB_PRIORITY_MAX     9
#define JOB_QUEUE_DEFAULT    "default"
#define JOB_PAYLOAD_DEFAULT  ((size_t)1 << 20) /* max_payload unless configured */
#define JOB_PAYLOAD_MAX      ((size_t)16 << 20)
#define JOB_RESULT_MAX       ((size_t)64 << 10)
#define JOB_OUTPUT_MAX       ((size_t)1 << 20) /* of the end of what it printed */
#define JOB_COUNT_MAX        1000000           /* of max_attempts and max_stalls */
#define JOB_TIMEOUT_MAX      (365 * USEC_PER_DAY)
#define JOB_RUNS_KEPT        10
#define JOB_ON_DEAD_MAX      8 /* dead jobs in a row, each brought by the one before */
#define JOB_NO_EXIT_CODE     (-1)

enum job_encoding {
    JOB_JSON = 0,
    JOB_RAW = 1,
};

/* Why a job is dead. */
enum job_reason {
    REASON_NONE = 0,
    REASON_EXHAUSTED = 1,       /* as many failures as max_attempts allows */
    REASON_PERMANENT = 2,       /* the handler said that it cannot get better */
    REASON_STALLED = 3,         /* as many lost leases as max_stalls allows */
    REASON_NO_HANDLER = 4,      /* nobody here knows the type */
    REASON_INVALID_PAYLOAD = 5, /* it does not fit the handler's schema, or the record is damaged */
    REASON_CANNOT_START = 6,    /* the handler could not be started for a day */
};

/* Why a ready job was set aside: nobody can run it now. Stored: never change the numbers. */
enum job_aside {
    ASIDE_NONE = 0,
    ASIDE_NO_HANDLER = 1,   /* no pool of its queue has a handler for its type */
    ASIDE_CANNOT_START = 2, /* the handler of its type cannot be started */
};

#define JOB_ASIDES 3

/* How one execution ended. */
enum run_outcome {
    RUN_DONE = 0,
    RUN_RETRY = 1,
    RUN_DEAD = 2,
    RUN_RELEASED = 3,
    RUN_SNOOZED = 4,
    RUN_CANCELLED = 5,
    RUN_STALLED = 6, /* its lease ran out */
};

/* One execution, as the newest JOB_RUNS_KEPT of them are kept. */
struct job_run {
    int64_t execution;
    const char *pool;
    int worker; /* 0: never reached a worker */
    usec_t started_at;
    usec_t wall, user, system; /* durations */
    int64_t max_rss_kb;
    enum run_outcome outcome;
    int exit_code; /* or JOB_NO_EXIT_CODE */
    int signal;    /* or 0 */
    const char *error;
};

struct job {
    /* What the producer says. */
    struct uuid id;
    bool id_is_given; /* it was not made for this job: a store may have it, in whatever queue */
    const char *type;
    const char *queue;
    enum job_encoding encoding;
    struct bytes payload;
    const char *headers; /* a JSON object as written: headers.h */
    struct tags tags;
    int priority;
    usec_t run_at;
    usec_t timeout;
    int max_attempts, max_stalls;
    int attempts, stalls; /* 0, unless a job is brought over from elsewhere */
    const char *key;
    struct keyed_flags update; /* what a second enqueue with this key changes */
    const char *idempotency_key;
    usec_t idempotency_expires; /* when the record of that key ends */
    int on_dead_depth; /* how many dead jobs in a row led to this one; 0: somebody asked for it */

    /* What the store records. */
    enum job_state state;
    usec_t due; /* place in the queue: priority, due, sequence */
    enum job_aside aside;
    usec_t aside_since; /* 0: it is not aside */
    int64_t executions;
    usec_t created_at, started_at, ended_at;
    struct lease_token token; /* of the lease, or of the last one */
    usec_t expires_at;        /* of the lease */
    const char *pool;
    int worker;
    usec_t cancel_requested_at;
    struct uuid merged_into; /* nil: was not merged */
    const char *last_error;
    usec_t failed_at;
    enum job_reason reason;
    int exit_code, signal;
    int progress_percent; /* -1: none reported */
    const char *progress_text;
    struct bytes result;
    struct bytes output;
    struct job_run *runs; /* oldest first; only where a call says so */
    size_t run_count;

    /* What a reserve adds. */
    int64_t ref; /* the store's own handle: lets it settle without looking the id up; 0 is none */
    uint32_t reservation;  /* which of those of the call it was reserved for, from 0 on */
    const struct why *why; /* what it waits for: why.h; only where somebody has asked */
    const char *defect;    /* why the stored record cannot be run; NULL: it can */
};

/* Whoever reserves jobs of certain types looks at so many of a queue at most, the first in line. */
#define JOB_LOOK_MAX 10000

/* Jobs with everything they point to, freed together. */
struct job_list {
    struct arena arena;
    struct job *items;
    size_t count;
    size_t capacity;
};

/* A job at the end, zeroed except for progress_percent and exit_code, which say "none"; NULL when
 * out of memory. The items move when the list grows. */
struct job *job_list_add(struct job_list *list) MUST_CHECK;
void job_list_done(struct job_list *list);

/* A job as a producer starts with: default queue and priority, the payload `null`, every flag as
 * documented. Type and id are absent. */
struct job job_defaults(void);

/* What a type, a queue, a pool or a cron entry may be called. */
#define JOB_NAME_CHARACTERS "A-Z a-z 0-9 _ . : -"
#define JOB_NAME_ALLOWED    "use 1 to 128 of " JOB_NAME_CHARACTERS

bool job_name_is_valid(const char *name);

/* The same, or shorter than that, with its sentence: "'a b' is not a name: use 1 to 128 of A-Z
 * ...". The caller puts before it whose name it is. */
bool job_name_check(const char *name, size_t max, struct error *err) MUST_CHECK;

/* Everything that holds of a job in a store: store.c asks it, once, of each that comes in, whether
 * a producer, cron or a dead job brings it. Blank idempotency keys are made absent. The text names
 * the field. */
bool job_validate(struct job *job, size_t max_payload, struct error *err) MUST_CHECK;

/* Who hears what is wrong with a job: the field by the name that producers give it, and a sentence
 * that has the name in it. */
struct job_faults {
    void (*add)(void *context, const char *field, const char *message);
    void *context;
};

/* The same as job_validate(), but for all that is wrong and not for the first of it. */
void job_find_faults(struct job *job, size_t max_payload, const struct job_faults *faults);

/* Limits are resolved when needed: the job's own value, else the handler's, else the default. What
 * is 0 is not set; a handler that is NULL sets nothing. */
struct job_limits {
    usec_t timeout;
    int max_attempts;
    int max_stalls;
};

extern const struct job_limits job_limits_default; /* 5m, 4, 3 */

struct job_limits job_limits_resolve(const struct job *job, const struct job_limits *handler,
                                     const struct job_limits *defaults);

/* The flags of a key and on_dead_depth as the one number that a store keeps of them: 0 for most. */
int job_flags_pack(const struct job *job);
void job_flags_unpack(int packed, struct job *job_out);

const char *job_encoding_name(enum job_encoding encoding);
const char *job_reason_name(enum job_reason reason); /* NULL for REASON_NONE */
const char *run_outcome_name(enum run_outcome outcome);

#endif
