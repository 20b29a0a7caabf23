/*
 * spec.h - jobs and settlements as JSON, for those that the server takes one by one: the types
 * job_spec and settlement_spec of functions/. The many that are plain go as arrays.
 */
#ifndef POSTGRES_SPEC_H
#define POSTGRES_SPEC_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "job/job.h"
#include "job/settlement.h"

/* JSON that is longer is refused by the server anyhow. */
#define PG_SPEC_MAX ((size_t)1 << 30)

/* Whether the job can go with others as a row of arrays: it has no key of either kind. */
bool pg_spec_is_plain_job(const struct job *job);

void pg_spec_add_job(struct json_writer *json, const char *name, const struct job *job);

/* A list of all of them. */
bool pg_spec_write_jobs(const struct job *jobs, size_t count, struct buffer *specs,
                        struct error *err) MUST_CHECK;

/* `n` is its place in the list, from 1 on. */
void pg_spec_add_settlement(struct json_writer *json, int n, const struct settlement *settlement);

#endif
