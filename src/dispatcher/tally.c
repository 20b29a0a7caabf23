/*
 * tally.c - what became of jobs, for the meters.
 */
#include "dispatcher/tally.h"

#include "dispatcher/state.h"
#include "job/settlement.h"
#include "process/meters.h"
#include "process/process.h"

/* From when its run could have begun. */
static usec_t wait_of(const struct job *job, const struct job_run *run)
{
    return job->due > 0 && run->started_at > job->due ? run->started_at - job->due : 0;
}

void tally_settled(const struct dispatcher *dispatcher, const struct held_job *held,
                   const struct settlement *settlement, enum th_error_code verdict)
{
    struct meters *meters = dispatcher->process->meters;

    if (verdict != TH_OK && !settlement_is_unstarted(settlement))
        meters_add_refusal(meters);
    if (verdict != TH_OK || !settlement->has_run)
        return;
    const struct meters_run run = {
        .type = held->job.type,
        .queue = held->job.queue,
        .outcome = settlement->run.outcome,
        .now = dispatcher->now.store,
        .wall = settlement->run.wall,
        .wait = wait_of(&held->job, &settlement->run),
    };

    meters_add_run(meters, &run);
}
