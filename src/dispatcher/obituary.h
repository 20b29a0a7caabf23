/*
 * obituary.h - what the end of a worker means for the job that it had started.
 */
#ifndef DISPATCHER_OBITUARY_H
#define DISPATCHER_OBITUARY_H

#include "base/base.h"
#include "job/outcome.h"
#include "process/message.h"

struct config;

#define OBITUARY_ERROR_SIZE 192

/* What is known of the worker and of the run. */
struct obituary_facts {
    const struct config *config;
    int worker; /* its number */
    const struct worker_end *end;
    struct hold hold; /* of the run */
    usec_t timeout;   /* of the run */
};

struct obituary {
    enum outcome_kind kind; /* failed, cancelled or released */
    char error[OBITUARY_ERROR_SIZE];
    int exit_code; /* JOB_NO_EXIT_CODE: it was a signal */
    int signal;    /* 0: it was not */
};

/* A crash is the job's own, unless the worker was killed for another one. */
void obituary_write(const struct obituary_facts *facts, struct obituary *obituary_out);

#endif
