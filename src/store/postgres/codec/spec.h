/*
 * spec.h - jobs and settlements as JSON, for those that the server takes one by one: the types
 * job_spec and settlement_spec of schema/. The many that are plain go as arrays.
 */
#ifndef POSTGRES_SPEC_H
#define POSTGRES_SPEC_H

#include "base/base.h"
#include "base/json_writer.h"
#include "job/job.h"
#include "job/settlement.h"

/* Whether the job can go with others as a row of arrays: it has no key of either kind. */
bool spec_is_plain_job(const struct job *job);

void spec_add_job(struct json_writer *json, const char *name, const struct job *job);

/* `n` is its place in the list, from 1 on. */
void spec_add_settlement(struct json_writer *json, int n, const struct settlement *settlement);

#endif
