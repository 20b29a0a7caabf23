/*
 * queues.h - the list of queues, PREFIX:queues.
 *
 * A queue is listed before its first job, because nothing else finds it: its keys may be on another
 * node. The script that stores a job lists its queue where it can. A failover may lose the entry
 * and keep the jobs, so what was listed is forgotten with the link, and pools list the queues that
 * they serve again and again.
 */
#ifndef REDIS_QUEUES_H
#define REDIS_QUEUES_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/connection.h"

/* Reads all of them into redis->queues. */
bool redis_queues_load(struct redis *redis, struct error *err) MUST_CHECK;

/* The same; in a cluster whose node with the list is away, the last ones that were read. */
bool redis_queues_recall(struct redis *redis, struct error *err) MUST_CHECK;

/* Lists those that this handle has not listed yet; usually there are none. */
bool redis_queues_add(struct redis *redis, const char *const *queues, size_t count,
                      struct error *err) MUST_CHECK;

/* Lists again those that a pool serves and that have ever had a job, every few seconds. */
void redis_queues_keep(struct redis *redis, const char *const *queues, size_t count);

#endif
