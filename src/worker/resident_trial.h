/*
 * resident_trial.h - starts a resident, to see whether it stays.
 */
#ifndef WORKER_RESIDENT_TRIAL_H
#define WORKER_RESIDENT_TRIAL_H

#include "base/base.h"

struct error;
struct handler_config;

/* False when it ends before it reads its input, and says how, with the last line that it wrote to
 * its standard error. It gets no job, and is ended as soon as it reads, or when it has not done so
 * for a while: some load much before. */
bool resident_trial(const struct handler_config *handler, struct error *err) MUST_CHECK;

#endif
