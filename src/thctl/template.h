/*
 * template.h - the options of `thctl enqueue`, and the job that they describe.
 */
#ifndef THCTL_TEMPLATE_H
#define THCTL_TEMPLATE_H

#include "base/base.h"
#include "cli/options.h"
#include "job/job.h"

struct arena;
struct error;

/* The rows of template_options, in order. */
enum template_option {
    TEMPLATE_FILE,
    TEMPLATE_RAW,
    TEMPLATE_QUEUE,
    TEMPLATE_RUN_AT,
    TEMPLATE_PRIORITY,
    TEMPLATE_TIMEOUT,
    TEMPLATE_MAX_ATTEMPTS,
    TEMPLATE_MAX_STALLS,
    TEMPLATE_KEY,
    TEMPLATE_UPDATE_PAYLOAD,
    TEMPLATE_UPDATE_RUN_AT,
    TEMPLATE_UPDATE_RETRY,
    TEMPLATE_RESET_COUNTS,
    TEMPLATE_IDEMPOTENCY_KEY,
    TEMPLATE_HEADER,
    TEMPLATE_TAG,
    TEMPLATE_ID,
    TEMPLATE_WAIT,
    TEMPLATE_BULK,
    TEMPLATE_LINES,
    TEMPLATE_NULL,
    TEMPLATE_SKIP_BAD,
    TEMPLATE_QUIET,
    TEMPLATE_OPTIONS,
};

extern const struct option template_options[];

/* A job of this type (NULL: not known yet) as the options say, without its payload. It points into
 * the arena and the options. */
bool template_make(const struct option_value *options, const char *type, usec_t now,
                   struct arena *arena, struct job *job_out, struct error *err) MUST_CHECK;

/* How long to wait for the end of what is stored; USEC_MAX: forever. */
usec_t template_wait(const struct option_value *options);

#endif
