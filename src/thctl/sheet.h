/*
 * sheet.h - a job as a sheet of names and values, for people.
 */
#ifndef THCTL_SHEET_H
#define THCTL_SHEET_H

#include "base/base.h"
#include "cli/output.h"
#include "job/job.h"

/* All fields that have a value, payload, runs and output included; its limits are resolved. */
void sheet_print(struct output *out, const struct job *job, usec_t now);

/* What a state looks like, here and in tables. */
enum colour sheet_state_colour(enum job_state state);

#endif
