/*
 * follow.h - wait for a job's end, seeing its progress and, if wanted, its output.
 */
#ifndef CLIENT_FOLLOW_H
#define CLIENT_FOLLOW_H

#include "base/base.h"
#include "job/job.h"
#include "store/store.h"

/* Who looks on. */
struct follow {
    /* Called for each change of state or progress on the way; false stops following. NULL: nobody
     * looks. */
    bool (*seen)(const struct job *job, void *context);
    void *context;
    bool sees_output; /* a change of the output counts too */
    bool (*stopped)(
        void); /* whether to stop now, asked at least four times a second; NULL: never */
};

/* Until the job has ended, the timeout is over (USEC_MAX: never), or `seen` or `stopped` says so;
 * *ended_out says whether it has ended. job_out has the job as last seen. A job that vanishes
 * meanwhile (retention) is TH_E_NOT_FOUND. The backend being away for a moment is waited for. */
bool follow_job(struct store *store, const struct uuid *id, usec_t timeout,
                const struct follow *follow, struct job_list *job_out, bool *ended_out,
                struct error *err) MUST_CHECK;

#endif
