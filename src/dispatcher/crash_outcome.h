/*
 * crash_outcome.h - what the end of a worker means for the job that it had started.
 */
#ifndef DISPATCHER_CRASH_OUTCOME_H
#define DISPATCHER_CRASH_OUTCOME_H

#include "base/base.h"
#include "job/outcome.h"
#include "process/message.h"

struct config;

#define CRASH_OUTCOME_ERROR_SIZE 192

/* What is known of the worker and of the run. */
struct crash_facts {
    const struct config *config;
    int worker; /* its number */
    const struct worker_end *end;
    struct hold hold; /* of the run */
    usec_t timeout;   /* of the run */
};

struct crash_outcome {
    enum outcome_kind kind; /* failed, cancelled or released */
    char error[CRASH_OUTCOME_ERROR_SIZE];
    int exit_code; /* JOB_NO_EXIT_CODE: it was a signal */
    int signal;    /* 0: it was not */
};

/* A crash is the job's own, unless the worker was killed for another one. */
void crash_outcome_find(const struct crash_facts *facts, struct crash_outcome *crash_out);

#endif
