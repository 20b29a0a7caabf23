/*
 * variables.h - the environment of a command: what the handler and the job say, and a few plain
 * values; of our own environment only what pass_env lists.
 */
#ifndef WORKER_VARIABLES_H
#define WORKER_VARIABLES_H

#include "base/base.h"

struct arena;
struct command;
struct handler_job;
struct error;

/* NAME=value, NULL at the end. A name that comes twice has its last value, in this order: plain
 * values, pass_env, the handler's env, TH_* and the job's trace. `now` is wall time. */
bool variables_build(const struct command *command, const struct handler_job *job, usec_t now,
                     struct arena *arena, const char *const **environment_out,
                     struct error *err) MUST_CHECK;

/* For a program that stays: of TH_*, which are last, only TH_POOL_ID. */
bool variables_build_lasting(const struct command *command, const char *pool_id,
                             struct arena *arena, const char *const **environment_out,
                             struct error *err) MUST_CHECK;

/* NULL when it is not there. */
const char *variables_get(const char *const *environment, const char *name);

#endif
