/*
 * ending.h - how a run ended: the outcomes and the words that all kinds of handlers share.
 */
#ifndef WORKER_ENDING_H
#define WORKER_ENDING_H

#include "base/base.h"
#include "job/outcome.h"
#include "job/stop_reason.h"
#include "worker/program.h"

struct buffer;
struct gist;

/* "timed out after 30s"; `timeout` is that of the job. */
void ending_say_stop(struct buffer *text, enum stop_reason why, usec_t timeout);

/* "killed by SIGSEGV" */
void ending_say_signal(struct buffer *text, int number);

/* What was put off or stopped has no error of the job's, but its run shows why. */
bool ending_is_error(enum outcome_kind kind);

/* ": " and what the program had to say about it, if anything. */
void ending_add_words(struct buffer *text, const struct gist *said);

/* The end of a resident that has done this many jobs, to the log. */
void ending_log_resident(const char *handler, int pid, const struct program_end *end, uint64_t jobs,
                         bool was_asked_to);

#endif
