/*
 * outcome.h - how an execution ended, as the one who ran it saw it.
 */
#ifndef JOB_OUTCOME_H
#define JOB_OUTCOME_H

#include "base/base.h"
#include "job/job.h"

enum outcome_kind {
    OUTCOME_DONE,
    OUTCOME_FAILED,      /* exit code, signal, crash, timeout, error: may get better */
    OUTCOME_PERMANENT,   /* the handler said that it cannot get better */
    OUTCOME_SNOOZED,     /* the handler asked for later, nothing counted */
    OUTCOME_RELEASED,    /* not the job's doing: drain, recycling, lost start */
    OUTCOME_CANCELLED,   /* stopped on request */
    OUTCOME_ASIDE,       /* nobody can run it now, nothing counted */
    OUTCOME_UNHANDLED,   /* no handler for the type */
    OUTCOME_INVALID,     /* the payload does not fit the handler's schema */
    OUTCOME_UNSTARTABLE, /* the handler could not be started for too long */
};

struct outcome {
    enum outcome_kind kind;
    const char *error;    /* for people; NULL when it went well */
    usec_t snooze_for;    /* OUTCOME_SNOOZED */
    enum job_aside aside; /* OUTCOME_ASIDE: why; and since when its handler cannot be started */
    usec_t failing_since;
    struct bytes result;
    struct bytes output;
    bool has_progress; /* the last that it reported: */
    int progress_percent;
    const char *progress_text; /* or NULL */
    struct job_run run; /* settlement_decide() fills in execution, outcome, and error if absent */
};

#endif
