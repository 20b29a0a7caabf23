/*
 * idempotency.h - one enqueue, however often it is sent.
 *
 * A record leads from (queue, idempotency_key) to an id, and has an expiry of its own. While it
 * holds, a second enqueue changes nothing and is answered with the first id, whatever became of
 * that job.
 */
#ifndef JOB_IDEMPOTENCY_H
#define JOB_IDEMPOTENCY_H

#include "base/base.h"

#define IDEMPOTENCY_WINDOW_DEFAULT (24 * USEC_PER_HOUR)

/* Blank keys are absent ones. */
bool idempotency_key_counts(const char *key);

/* Valid while now < expiry. */
bool idempotency_holds(usec_t expires_at, usec_t now);

#endif
