/*
 * events.c - what became of jobs, for the log.
 */
#include "dispatcher/events.h"

#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "dispatcher/held_jobs.h"
#include "job/aside.h"
#include "job/settlement.h"

static void log_done(const struct job *job, const char *id, const struct job_run *run)
{
    log_info("job_done", "job=%s type=%s queue=%s attempt=%d worker=%d ms=%" PRId64, id, job->type,
             job->queue, job->attempts + 1, run->worker, run->wall / USEC_PER_MSEC);
}

static void log_retry(const struct job *job, const char *id, const struct settlement *settlement)
{
    char when[TIMESTAMP_SIZE];

    log_warning("job_retry",
                "job=%s type=%s queue=%s attempt=%d worker=%d ms=%" PRId64 " run_at=%s error=%s",
                id, job->type, job->queue, job->attempts + 1, settlement->run.worker,
                settlement->run.wall / USEC_PER_MSEC, timestamp_format(settlement->run_at, when),
                settlement->error);
}

static void log_dead(const struct job *job, const char *id, const struct settlement *settlement)
{
    log_error("job_dead", "job=%s type=%s queue=%s reason=%s attempts=%d stalls=%d error=%s", id,
              job->type, job->queue, job_reason_name(settlement->reason),
              job->attempts + settlement->counts, job->stalls, settlement->error);
}

static void log_snoozed(const struct job *job, const char *id, const struct settlement *settlement)
{
    char when[TIMESTAMP_SIZE];

    log_info("job_snoozed", "job=%s type=%s queue=%s run_at=%s", id, job->type, job->queue,
             timestamp_format(settlement->run_at, when));
}

static void log_settled(const struct job *job, const char *id, const struct settlement *settlement)
{
    switch (settlement->kind) {
    case SETTLE_ACK:
        log_done(job, id, &settlement->run);
        return;
    case SETTLE_RETRY:
        log_retry(job, id, settlement);
        return;
    case SETTLE_FAIL:
        log_dead(job, id, settlement);
        return;
    case SETTLE_RELEASE:
        log_info("job_released", "job=%s type=%s queue=%s reason=%s", id, job->type, job->queue,
                 settlement->run.error ? settlement->run.error : "nobody started it");
        return;
    case SETTLE_SNOOZE:
        log_snoozed(job, id, settlement);
        return;
    case SETTLE_ASIDE: /* the first of many was told when it was found out */
        log_debug("job_released", "job=%s type=%s queue=%s reason=%s", id, job->type, job->queue,
                  aside_name(settlement->aside));
        return;
    case SETTLE_CANCEL:
        log_info("job_cancelled", "job=%s type=%s queue=%s", id, job->type, job->queue);
        return;
    }
}

void events_log(const struct held_job *held, const struct settlement *settlement,
                enum th_error_code verdict)
{
    char id[UUID_TEXT_SIZE];

    if (verdict == TH_OK && settlement->kind == SETTLE_ACK && !log_is_on(LEVEL_INFO))
        return;
    uuid_format(&held->job.id, id);
    if (verdict == TH_OK) {
        log_settled(&held->job, id, settlement);
        return;
    }
    /* If somebody else has a job that we never started, nothing is lost. */
    log_at(settlement_is_unstarted(settlement) ? LEVEL_DEBUG : LEVEL_WARNING, "settlement_refused",
           "job=%s type=%s settlement=%s verdict=%s", id, held->job.type,
           settlement_kind_name(settlement->kind), error_code_name(verdict));
}
