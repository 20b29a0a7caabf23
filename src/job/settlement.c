/*
 * settlement.c - outcome and policy to what the store is to record.
 *
 *     worker --outcome--> settlement_decide() --settlement--> store
 *
 * Invariants:
 *   - Only an execution that failed counts as an attempt: what is our own fault, or was asked
 *     for, never brings a job closer to its death.
 *   - Whether a job runs again is decided here, whatever returned it: no path gives a job back
 *     without either counting it or being told to.
 */
#include "job/settlement.h"

#include "base/timestamp.h"
#include "job/aside.h"

#include <assert.h>
#include <stdlib.h>

/* clang-format off */
static const struct {
    const char *name;
    enum run_outcome run_outcome;
} kinds[] = {
    [SETTLE_ACK]     = {"ack",     RUN_DONE},
    [SETTLE_RETRY]   = {"retry",   RUN_RETRY},
    [SETTLE_FAIL]    = {"fail",    RUN_DEAD},
    [SETTLE_RELEASE] = {"release", RUN_RELEASED},
    [SETTLE_SNOOZE]  = {"snooze",  RUN_SNOOZED},
    [SETTLE_CANCEL]  = {"cancel",  RUN_CANCELLED},
    [SETTLE_ASIDE]   = {"aside",   RUN_RELEASED},
};
/* clang-format on */

/* What names the job and proves that we hold it. */
static struct settlement settlement_of(const struct job *job)
{
    return (struct settlement){
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = job->ref,
        .run = {.exit_code = JOB_NO_EXIT_CODE},
    };
}

static usec_t later(usec_t now, usec_t delay)
{
    if (delay <= 0)
        return now;
    return delay > TIMESTAMP_MAX - now ? TIMESTAMP_MAX : now + delay;
}

static void fail(struct settlement *settlement, enum job_reason reason)
{
    settlement->kind = SETTLE_FAIL;
    settlement->reason = reason;
}

/* `attempts` are the failures before this one. */
static void retry_or_fail(struct settlement *settlement, int attempts,
                          const struct settlement_rules *rules, usec_t now, double unit)
{
    assert(rules->limits.max_attempts > 0);
    settlement->counts = true;
    if (attempts >= rules->limits.max_attempts - 1) {
        fail(settlement, REASON_EXHAUSTED);
        return;
    }
    settlement->kind = SETTLE_RETRY;
    settlement->run_at = later(now, retry_delay(&rules->retry, attempts + 1, unit));
}

static void decide(struct settlement *settlement, const struct job *job,
                   const struct outcome *outcome, const struct settlement_rules *rules, usec_t now,
                   double unit)
{
    switch (outcome->kind) {
    case OUTCOME_DONE:
        settlement->kind = SETTLE_ACK;
        settlement->forget = rules->forget_done;
        return;
    case OUTCOME_FAILED:
        retry_or_fail(settlement, job->attempts, rules, now, unit);
        return;
    case OUTCOME_PERMANENT:
        settlement->counts = true;
        fail(settlement, REASON_PERMANENT);
        return;
    case OUTCOME_SNOOZED:
        settlement->kind = SETTLE_SNOOZE;
        settlement->run_at = later(now, outcome->snooze_for);
        return;
    case OUTCOME_RELEASED:
        settlement->kind = SETTLE_RELEASE;
        return;
    case OUTCOME_CANCELLED:
        settlement->kind = SETTLE_CANCEL;
        return;
    case OUTCOME_ASIDE:
        settlement->kind = SETTLE_ASIDE;
        settlement->aside = outcome->aside;
        settlement->aside_since =
            aside_since(outcome->aside, outcome->failing_since, job->due, now);
        return;
    case OUTCOME_UNHANDLED:
        fail(settlement, REASON_NO_HANDLER);
        return;
    case OUTCOME_INVALID:
        fail(settlement, REASON_INVALID_PAYLOAD);
        return;
    case OUTCOME_UNSTARTABLE:
        fail(settlement, REASON_CANNOT_START);
        return;
    }
    abort(); /* an outcome of no known kind */
}

/* What was given back or cancelled may have been waiting in our hands, never started. */
static bool has_run(const struct outcome *outcome)
{
    switch (outcome->kind) {
    case OUTCOME_DONE:
    case OUTCOME_FAILED:
    case OUTCOME_PERMANENT:
    case OUTCOME_SNOOZED:
        return true;
    case OUTCOME_RELEASED:
    case OUTCOME_CANCELLED:
    case OUTCOME_ASIDE:
        return outcome->run.started_at != 0;
    case OUTCOME_UNHANDLED:
    case OUTCOME_INVALID:
    case OUTCOME_UNSTARTABLE:
        return false;
    }
    abort(); /* an outcome of no known kind */
}

struct settlement settlement_decide(const struct job *job, const struct outcome *outcome,
                                    const struct settlement_rules *rules, usec_t now, double unit)
{
    struct settlement settlement = settlement_of(job);

    settlement.error = outcome->error;
    settlement.result = outcome->result;
    settlement.output = outcome->output;
    settlement.has_progress = outcome->has_progress;
    settlement.progress_percent = outcome->progress_percent;
    settlement.progress_text = outcome->progress_text;
    decide(&settlement, job, outcome, rules, now, unit);

    settlement.has_run = has_run(outcome);
    settlement.run = outcome->run;
    if (settlement.run.started_at > now) /* a worker's clock, as it was known when it got the job */
        settlement.run.started_at = now;
    settlement.run.execution = job->executions;
    settlement.run.outcome = settlement_run_outcome(settlement.kind);
    if (!settlement.run.error)
        settlement.run.error = outcome->error;
    return settlement;
}

bool settlement_instead_of_run(const struct job *job, const struct job_limits *limits,
                               struct settlement *settlement_out)
{
    assert(limits->max_stalls > 0);
    struct settlement settlement = settlement_of(job);

    if (job->defect) {
        fail(&settlement, REASON_INVALID_PAYLOAD);
        settlement.error = job->defect;
    } else if (job->stalls >= limits->max_stalls) {
        fail(&settlement, REASON_STALLED);
        settlement.error = "its lease ran out as often as max_stalls allows";
    } else {
        return false;
    }
    *settlement_out = settlement;
    return true;
}

bool settlement_tells(const struct settlement *settlement)
{
    return settlement->result.data || settlement->output.data || settlement->has_progress;
}

bool settlement_is_unstarted(const struct settlement *settlement)
{
    return (settlement->kind == SETTLE_RELEASE || settlement->kind == SETTLE_ASIDE) &&
           !settlement->has_run;
}

struct settlement_place settlement_place(const struct settlement *settlement, usec_t run_at,
                                         usec_t due, usec_t now)
{
    struct settlement_place place = {.state = JOB_READY, .run_at = run_at, .due = due};

    if (settlement->kind == SETTLE_RELEASE || settlement->kind == SETTLE_ASIDE)
        return place;
    assert(settlement->kind == SETTLE_RETRY || settlement->kind == SETTLE_SNOOZE);
    place.run_at = settlement->run_at;
    place.due = settlement->run_at != 0 ? settlement->run_at : now;
    if (place.due > now)
        place.state = settlement->kind == SETTLE_RETRY ? JOB_RETRY : JOB_SCHEDULED;
    return place;
}

bool settlement_is_over(enum th_error_code verdict)
{
    switch (verdict) {
    case TH_OK:
    case TH_E_NOT_FOUND:
    case TH_E_NOT_RUNNING:
    case TH_E_LEASE_EXPIRED:
    case TH_E_LEASE_MISMATCH:
        return true;
    case TH_E_INVALID:
    case TH_E_UNAVAILABLE:
    case TH_E_UNCERTAIN:
    case TH_E_CONFLICT:
    case TH_E_SCHEMA:
    case TH_E_NO_MEMORY:
    case TH_E_INTERNAL:
        return false;
    }
    abort(); /* a verdict of no known kind */
}

const char *settlement_kind_name(enum settlement_kind kind)
{
    assert((unsigned)kind < COUNT_OF(kinds));
    return kinds[kind].name;
}

enum run_outcome settlement_run_outcome(enum settlement_kind kind)
{
    assert((unsigned)kind < COUNT_OF(kinds));
    return kinds[kind].run_outcome;
}
