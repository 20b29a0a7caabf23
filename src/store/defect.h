/*
 * defect.h - what makes a stored job impossible to run.
 *
 * Somebody else may have written over it. Such a job is handed out with its defect, so that the
 * core ends it as dead instead of meeting it again and again.
 */
#ifndef STORE_DEFECT_H
#define STORE_DEFECT_H

#include "job/job.h"

#define DEFECT_UNREADABLE "the stored record is damaged: it cannot be read"
#define DEFECT_ENCODING   "the stored record is damaged: its encoding is unknown"

/* Of a job that could be read; NULL: none. */
const char *defect_of(const struct job *job);

#endif
