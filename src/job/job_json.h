/*
 * job_json.h - a job as JSON, both ways.
 *
 * Out: the one object that `thctl --json`, the HTTP API and the tests see. In: a line of
 * `thctl enqueue --bulk` or the body of a request.
 */
#ifndef JOB_JOB_JSON_H
#define JOB_JOB_JSON_H

#include "base/base.h"
#include "job/job.h"

struct arena;
struct buffer;
struct error;
struct json_writer;

/* All documented fields in their documented order, on one line, without a newline. What is absent
 * is null, only runs is then []; payload and result are payload_base64 and result_base64 when they
 * are not JSON, and damaged headers are text. The lease's token is not among them: whoever may see
 * a job may not settle it. */
void job_json_add(struct buffer *buffer, const struct job *job);

/* The same without payload, headers, result, output and runs: a row of a list. */
void job_json_add_brief(struct buffer *buffer, const struct job *job);
/* The same without the brackets: something else stands in the object as well. */
void job_json_add_members(struct json_writer *json, const struct job *job);

/* {"type":…, "payload":…|"payload_base64":…, "headers", "tags", "queue", "run_at", "priority",
 * "timeout" ("30s") or "timeout_ms", "max_attempts", "max_stalls", "key", "idempotency_key",
 * "update_payload", "update_run_at", "update_retry", "reset_counts", "id"}. `job` has the defaults
 * and gets what is there; what is null counts as absent. Unknown names, wrong types, both names of
 * one thing and a missing type are refused; the rest is job_validate()'s. After a refusal `job` may
 * be half filled. Strings and payload live in `arena` or point into `text`. run_at also takes
 * "+5m", relative to `now`. */
bool job_json_parse(struct bytes text, usec_t now, struct arena *arena, struct job *job,
                    struct error *err) MUST_CHECK;

/* The same, and tells all that is wrong with it: by the name of a member, or "" when it is no
 * object: then this is false. A relative run_at is left to *delay_out, for those who do not know
 * the database's time; -1 is none. Out of memory shows in the arena. */
bool job_json_read(struct bytes text, struct arena *arena, struct job *job, usec_t *delay_out,
                   const struct job_faults *faults) MUST_CHECK;

#endif
