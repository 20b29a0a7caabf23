/*
 * results.h - what comes back from the workers: results, and their own ends.
 */
#ifndef DISPATCHER_RESULTS_H
#define DISPATCHER_RESULTS_H

#include "base/base.h"

struct dispatcher;
struct error;

/* Every result that the workers have sent meanwhile goes into the outbox. A worker that has ended
 * leaves the jobs that it had started: each of them failed. */
bool results_collect(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* The same; then what a worker has finished without a result that could be read has failed. */
bool results_audit(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* When the outbox is settled: forgets the results, and the workers that have ended, but for those
 * of jobs that are kept in it. */
bool results_forget(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

#endif
