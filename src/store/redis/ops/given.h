/*
 * given.h - ids that producers chose, in a cluster: the same one may be in another queue.
 *
 * An id is that of one job, whatever its queue. A single server looks for it in the script that
 * stores the job. In a cluster no script reaches another queue, so the client looks before: whoever
 * repeats an enqueue is answered that it existed, but two that begin at the same moment, with one
 * id and two queues, are both stored.
 */
#ifndef REDIS_GIVEN_H
#define REDIS_GIVEN_H

#include "store/redis/net/connection.h"
#include "store/store.h"

/* Whether any of these has an id that a producer chose. */
bool redis_given_any(const struct job *jobs, size_t count);

/* Answers those that are in another queue, or in another queue of this group, and leaves the others
 * to `enqueue`. */
bool redis_given_enqueue(struct store *store, const struct enqueue_group *group, usec_t now,
                         bool (*enqueue)(struct store *store, const struct enqueue_group *group,
                                         usec_t now, size_t *at_fault_out, struct error *err),
                         size_t *at_fault_out, struct error *err) MUST_CHECK;

#endif
