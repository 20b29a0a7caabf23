/*
 * connection.h - an open store on Redis, and the servers that it is kept on.
 *
 * One server has one node. A cluster has one for each master, and a map from slots to them.
 */
#ifndef REDIS_CONNECTION_H
#define REDIS_CONNECTION_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "store/driver.h"
#include "store/redis/net/address.h"
#include "store/redis/net/bell.h"
#include "store/redis/net/node.h"
#include "store/redis/parts/names.h"

#define REDIS_SLOTS 16384

struct redis_begun;

struct redis {
    struct store base; /* first */
    struct redis_address address;
    struct redis_node *nodes; /* owned; the first is the one that the URL names */
    size_t node_count;
    uint16_t *slot_nodes; /* owned; the node of each slot; NULL: not a cluster */
    bool map_is_stale;
    char master_host[256];     /* what the sentinels said last */
    usec_t deadline;           /* of the operation under way, on the boot-time clock */
    struct redis_names known;  /* queues that were listed over the links that there are now */
    usec_t kept_at;            /* boot time at which served queues were listed again */
    struct redis_names queues; /* all that there are, as of the last look */
    struct redis_bell bell;
    struct redis_batch *ahead; /* sent, not all of it answered: ahead.h; the oldest first */
    struct redis_begun *begun; /* owned; exchanges that are out, the oldest first */
    usec_t failure_told_at;    /* boot time; of a queue whose script fails */
};

static inline struct redis *redis_of(struct store *store)
{
    return (struct redis *)store;
}

/* Takes the address over. */
bool redis_connect(struct redis_address *address, struct redis **redis_out,
                   struct error *err) MUST_CHECK;
void redis_disconnect(struct redis *redis);

/* Every operation starts with it: from now on it has until its deadline. */
void redis_begin(struct redis *redis);

#endif
