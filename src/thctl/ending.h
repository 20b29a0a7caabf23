/*
 * ending.h - how a job ended, told to whoever followed it.
 */
#ifndef THCTL_ENDING_H
#define THCTL_ENDING_H

#include "job/job.h"
#include "thctl/command.h"

/* STATUS_OK for a job that is done; anything else is a failure, and has been said. */
enum status ending_report(const struct job *job);

/* The job was there a moment ago, and is not any more. */
enum status ending_report_missing(const struct uuid *id);

#endif
