/*
 * aside.h - jobs that nobody can run now are set aside: for how long, and what becomes of them.
 *
 * To people such a job is ready, and it keeps its place, but it lies where reserving does not look.
 * Every pool brings back what it can run, so what is still aside has had no pool that could, since
 * it was set aside.
 */
#ifndef JOB_ASIDE_H
#define JOB_ASIDE_H

#include "base/base.h"
#include "job/job.h"

#define ASIDE_PATIENCE USEC_PER_DAY

/* Since when a job counts as aside that is set aside now. One whose handler cannot be started is
 * tried again and again: it counts from the first failure of the handler since it was due. */
usec_t aside_since(enum job_aside why, usec_t failing_since, usec_t due, usec_t now);

/* What was set aside at or before this moment has waited long enough, and is dead. */
usec_t aside_cutoff(usec_t now);

/* The same for whoever does not know the handler. Jobs that cannot be started are ended by a pool
 * that knows it, with all that belongs to their death; only where there is no such pool, by
 * somebody else, an hour later. */
usec_t aside_cutoff_of_strangers(enum job_aside why, usec_t now);

/* Why it is dead then, and what is said where nobody has said more. */
enum job_reason aside_reason(enum job_aside why);
const char *aside_epitaph(enum job_aside why);

/* For programs, and for people; NULL for ASIDE_NONE. */
const char *aside_name(enum job_aside why);
const char *aside_words(enum job_aside why);

#endif
