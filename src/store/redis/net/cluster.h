/*
 * cluster.h - Redis Cluster: which node has which slot.
 *
 * Keys with the same {tag} are in one slot. The map is asked for when the store is opened and when
 * a node fails; in between, MOVED and ASK correct it.
 */
#ifndef REDIS_CLUSTER_H
#define REDIS_CLUSTER_H

#include "base/base.h"
#include "base/error.h"

struct redis;

#define REDIS_ANY_SLOT (-1)

int redis_cluster_slot(const char *key);

/* The node for this slot; without a cluster it is the only one. */
size_t redis_cluster_node_of(const struct redis *redis, int slot);

/* Asks the first node whether it is part of a cluster. */
bool redis_cluster_detect(struct redis *redis, struct error *err) MUST_CHECK;

/* Asks for the map again if it is known to be stale. */
bool redis_cluster_refresh(struct redis *redis, struct error *err) MUST_CHECK;

/* MOVED changes the map for good, ASK only says who is to be asked once: `node_out` is where to
 * put that, and NULL for MOVED. */
bool redis_cluster_follow(struct redis *redis, size_t from, const char *reply, size_t *node_out,
                          struct error *err) MUST_CHECK;

#endif
