/*
 * last_words.h - what the plugins of a worker that died had printed and logged:
 * process/print_file.h.
 */
#ifndef DISPATCHER_LAST_WORDS_H
#define DISPATCHER_LAST_WORDS_H

#include "base/base.h"

struct arena;
struct held_job;
struct held_jobs;
struct worker_link;

/* What is kept with the job as its output: as much as its handler says. Nothing, if the worker's
 * last words were not about this job. */
struct bytes last_words_read(const struct worker_link *link, const struct held_job *held,
                             struct arena *arena);

/* Logs those lines that the worker itself did not come to. */
void last_words_log(const struct worker_link *link, const struct held_jobs *held_jobs);

#endif
