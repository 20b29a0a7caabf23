/*
 * request.h - what callers of <taskharbor/client.h> hand in, as the structs we use ourselves.
 *
 * A caller's struct says how large it is. It may be older than this library, then the rest has its
 * defaults; it may be newer, then it is accepted as long as it does not use what is new. Texts and
 * payloads are not copied: they are valid for the call. Every error names the field.
 */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "store/store.h"

#include <taskharbor/client.h>

/* NULL is all defaults. Zeros are replaced by what they stand for. */
bool request_options(const struct th_options *given, struct th_options *options_out,
                     struct error *err) MUST_CHECK;

/* An array of the caller's: its elements are as far apart as the first one says. jobs_out has room
 * for `count`; with several, the error begins with "job 3: ". */
bool request_jobs(const struct th_new_job *given, size_t count, struct job *jobs_out,
                  struct error *err) MUST_CHECK;

/* NULL is all jobs. */
bool request_filter(const struct th_filter *given, struct job_filter *filter_out,
                    struct error *err) MUST_CHECK;

/* `field` is what messages call it. */
bool request_id(const char *field, const char *text, struct uuid *id_out,
                struct error *err) MUST_CHECK;
bool request_queue(const char *name, struct error *err) MUST_CHECK;
bool request_run_at(usec_t run_at, struct error *err) MUST_CHECK;

#endif
