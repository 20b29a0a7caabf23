/*
 * redis_queues.h - the list of queues, PREFIX:queues.
 *
 * A queue is listed before its first job, because nothing else finds it: its keys may be on another
 * node. A queue that was listed stays listed.
 */
#ifndef REDIS_QUEUES_H
#define REDIS_QUEUES_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/redis_connection.h"

/* Reads all of them into redis->queues. */
bool redis_queues_load(struct redis *redis, struct error *err) MUST_CHECK;

/* The same; in a cluster whose node with the list is away, the last ones that were read. */
bool redis_queues_recall(struct redis *redis, struct error *err) MUST_CHECK;

/* Lists those that this handle has not listed yet; usually there are none. */
bool redis_queues_add(struct redis *redis, const char *const *queues, size_t count,
                      struct error *err) MUST_CHECK;

#endif
