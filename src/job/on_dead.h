/*
 * on_dead.h - the job that is enqueued when another one dies.
 */
#ifndef JOB_ON_DEAD_H
#define JOB_ON_DEAD_H

#include "base/base.h"

struct arena;
struct error;
struct job;
struct uuid_maker;

/* What a handler says of it. */
struct on_dead {
    const char *type; /* NULL: there is no such job */
    const char *queue;
};

/* Its payload is [id, payload, error] of the dead one: a payload that is no JSON as base64 text.
 * Where that would be larger than max_payload or nested too deeply, the payload and then the error
 * are null; false with TH_E_INVALID when not even the id fits, and when the dead one was itself the
 * last of JOB_ON_DEAD_MAX that brought each other: configs of several pools may form a circle that
 * no check of one of them sees. */
bool on_dead_make(const struct on_dead *config, const struct job *dead, const char *error,
                  size_t max_payload, struct uuid_maker *ids, usec_t now, struct arena *arena,
                  const struct job **job_out, struct error *err) MUST_CHECK;

#endif
