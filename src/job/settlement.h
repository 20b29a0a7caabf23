/*
 * settlement.h - outcome and policy to what the store is to record.
 *
 * The one place that decides whether a job is done, tried again or dead. A store that carries out
 * a settlement only counts and moves.
 */
#ifndef JOB_SETTLEMENT_H
#define JOB_SETTLEMENT_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "job/lease.h"
#include "job/outcome.h"
#include "job/retry.h"

/* The numbers are stored with ended jobs: never change them. */
enum settlement_kind {
    SETTLE_ACK = 0,
    SETTLE_RETRY = 1,
    SETTLE_FAIL = 2,
    SETTLE_RELEASE = 3,
    SETTLE_SNOOZE = 4,
    SETTLE_CANCEL = 5,
    SETTLE_ASIDE = 6,
};

struct settlement {
    struct uuid job;
    const char *queue;
    struct lease_token token;
    int64_t ref; /* from the reserved job, or 0 */
    enum settlement_kind kind;
    bool counts;          /* one attempt more: an execution failed */
    bool forget;          /* ack: delete the job at once instead of keeping it as done */
    usec_t run_at;        /* retry and snooze: not before; 0 is at once */
    enum job_aside aside; /* aside: why, and since when that counts */
    usec_t aside_since;
    const char *error;
    enum job_reason reason; /* fail */
    struct bytes result;
    struct bytes output; /* replaces the stored tail when present */
    bool has_progress;   /* replaces what is stored: */
    int progress_percent;
    const char *progress_text; /* or NULL */
    struct job_run run;
    bool has_run;              /* the execution happened and belongs into the job's runs */
    const struct job *on_dead; /* fail: the job to enqueue in the same transaction, or NULL */
};

struct settlement_list {
    const struct settlement *items;
    size_t count;
};

/* What decides besides the outcome itself. */
struct settlement_rules {
    struct job_limits limits;
    struct retry_policy retry;
    bool forget_done; /* retention.done is 0 */
};

/* How `outcome` of `job` is settled at `now`. `unit` is uniform in [0, 1), for the jitter. The
 * settlement points into job and outcome. */
struct settlement settlement_decide(const struct job *job, const struct outcome *outcome,
                                    const struct settlement_rules *rules, usec_t now, double unit);

/* Before a reserved job is run: true when it must not be, with the settlement that ends it: as
 * many stalls as allowed, or a record that is damaged. */
bool settlement_instead_of_run(const struct job *job, const struct job_limits *limits,
                               struct settlement *settlement_out) MUST_CHECK;

/* Whether the execution left anything to keep beside its end: a result, output, progress. */
bool settlement_tells(const struct settlement *settlement);

/* Whether the job is given back, or set aside, by somebody who never started it. Then nothing can
 * have happened: the token is enough, even after the lease has ended, and no stall is counted. */
bool settlement_is_unstarted(const struct settlement *settlement);

/* Where a job waits that is given back. */
struct settlement_place {
    enum job_state state;
    usec_t run_at, due;
};

/* Release and aside keep the place that it had; retry and snooze give it another. */
struct settlement_place settlement_place(const struct settlement *settlement, usec_t run_at,
                                         usec_t due, usec_t now);

/* Whether an answer means that a repeated settlement needs no further repeating. */
bool settlement_is_over(enum th_error_code verdict);

const char *settlement_kind_name(enum settlement_kind kind);

/* How the run shows in the job's history. */
enum run_outcome settlement_run_outcome(enum settlement_kind kind);

#endif
