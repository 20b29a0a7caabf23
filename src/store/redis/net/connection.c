/*
 * connection.c - finds the servers that a URL names.
 */
#include "store/redis/net/connection.h"

#include "base/clock.h"
#include "store/redis/net/cluster.h"

#include <stdlib.h>

static void forget_nodes(struct redis *redis)
{
    for (size_t i = 0; i < redis->node_count; i++) {
        redis_link_close(&redis->nodes[i].link);
        free((char *)redis->nodes[i].host.name);
    }
    free(redis->nodes);
    free(redis->slot_nodes);
    redis->nodes = NULL;
    redis->slot_nodes = NULL;
    redis->node_count = 0;
}

static bool connect_to(struct redis *redis, const struct redis_host *host, struct error *err)
{
    size_t node;

    return redis_node_find(redis, host->name, host->port, &node, err) &&
           redis_node_open(redis, node, err) && redis_cluster_detect(redis, err);
}

/* By any of the nodes that the URL names; they know the others. */
static bool connect_by_any(struct redis *redis, struct error *err)
{
    const struct redis_address *address = &redis->address;

    for (size_t i = 0; i < address->host_count; i++) {
        redis->deadline = clock_boot() + REDIS_NODE_PATIENCE;
        if (connect_to(redis, &address->hosts[i], err)) {
            redis_begin(redis);
            return true;
        }
        if (err->code != TH_E_UNAVAILABLE)
            return false;
        forget_nodes(redis);
    }
    return false;
}

static bool connect_first(struct redis *redis, struct error *err)
{
    const struct redis_address *address = &redis->address;

    redis_begin(redis);
    return address->master || address->host_count == 1 ? connect_to(redis, &address->hosts[0], err)
                                                       : connect_by_any(redis, err);
}

bool redis_connect(struct redis_address *address, struct redis **redis_out, struct error *err)
{
    struct redis *redis = calloc(1, sizeof *redis);

    if (!redis)
        return error_no_memory(err);
    redis->address = *address;
    *address = (struct redis_address){0};
    redis_bell_init(&redis->bell);
    if (!connect_first(redis, err)) {
        redis_disconnect(redis);
        return false;
    }
    *redis_out = redis;
    return true;
}

void redis_disconnect(struct redis *redis)
{
    forget_nodes(redis);
    redis_bell_done(&redis->bell);
    redis_names_done(&redis->known);
    redis_names_done(&redis->queues);
    redis_address_done(&redis->address);
    free(redis->base.name);
    free(redis);
}

void redis_begin(struct redis *redis)
{
    redis->deadline = store_deadline(&redis->base);
}
