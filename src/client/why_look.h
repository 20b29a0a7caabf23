/*
 * why_look.h - gathers from the store what job/why.h needs to say what a job waits for.
 *
 * The same for thctl and for whoever else shows jobs.
 */
#ifndef CLIENT_WHY_LOOK_H
#define CLIENT_WHY_LOOK_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "job/why.h"
#include "store/store.h"

/* No more is asked than the state of the job makes necessary. What `why_out` points to lives in the
 * arena, or is the job's. */
bool why_look(struct store *store, const struct job *job, struct arena *arena, struct why *why_out,
              struct error *err) MUST_CHECK;

#endif
