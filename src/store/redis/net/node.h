/*
 * node.h - a server of a store. A cluster has one for each master.
 */
#ifndef REDIS_NODE_H
#define REDIS_NODE_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/address.h"
#include "store/redis/net/link.h"

#define REDIS_NODES_MAX 1000
#define REDIS_NO_NODE   SIZE_MAX

/* How long one of several may take to be connected to. */
#define REDIS_NODE_PATIENCE USEC_PER_SEC

struct redis;

struct redis_node {
    struct redis_host host; /* its name is owned */
    struct redis_link link;
    usec_t retry_at;  /* boot time before which nobody knocks again; of a cluster's only */
    usec_t delay;     /* the last one; 0: it answers */
    char reason[256]; /* why it was left alone */
};

/* A node with this address, added if need be. */
bool redis_node_find(struct redis *redis, const char *name, int port, size_t *node_out,
                     struct error *err) MUST_CHECK;

/* A node that is ready to be spoken to. One of a cluster that did not answer is not waited for
 * again at once: the others have work to do. */
bool redis_node_open(struct redis *redis, size_t node, struct error *err) MUST_CHECK;

/* It kept us waiting in vain: it is left alone for a while, which grows from 100 ms to 5 s. */
void redis_node_leave(struct redis_node *node, const struct error *why);

#endif
