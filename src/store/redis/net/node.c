/*
 * node.c - the servers of a store, one by one.
 */
#include "store/redis/net/node.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/redis/net/connection.h"
#include "store/redis/net/sentinel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_PATIENCE (200 * USEC_PER_MSEC) /* with one that did not answer before */
#define FIRST_DELAY    (100 * USEC_PER_MSEC) /* for which such a one is left alone */
#define MAX_DELAY      (5 * USEC_PER_SEC)

bool redis_node_find(struct redis *redis, const char *name, int port, size_t *node_out,
                     struct error *err)
{
    for (*node_out = 0; *node_out < redis->node_count; ++*node_out) {
        const struct redis_host *host = &redis->nodes[*node_out].host;
        if (host->port == port && text_equal(host->name, name))
            return true;
    }
    if (redis->node_count == REDIS_NODES_MAX)
        return error_set(err, TH_E_UNAVAILABLE, "redis: the cluster has more than %d nodes",
                         REDIS_NODES_MAX);
    struct redis_node *nodes =
        reallocarray(redis->nodes, redis->node_count + 1, sizeof *redis->nodes);
    if (!nodes)
        return error_no_memory(err);
    redis->nodes = nodes;
    char *copy = strdup(name);
    if (!copy)
        return error_no_memory(err);
    nodes[redis->node_count++] = (struct redis_node){.host = {.name = copy, .port = port}};
    return true;
}

void redis_node_leave(struct redis_node *node, const struct error *why)
{
    snprintf(node->reason, sizeof node->reason, "%.255s", why->text);
    node->delay = backoff_next(node->delay, FIRST_DELAY, MAX_DELAY);
    node->retry_at = clock_boot() + node->delay;
}

/* A node that hangs is connected to all the same, by the kernel: it has to say something before it
 * is sent what it might carry out later. */
static bool probe(struct redis_node *node, usec_t deadline, struct error *err)
{
    static const char *const words[] = {"PING"};
    REDIS_REPLY reply = NULL;

    return node->delay == 0 ||
           redis_link_ask(&node->link, words, COUNT_OF(words), deadline, &reply, err);
}

static bool open_one_of_many(struct redis *redis, struct redis_node *node, struct error *err)
{
    usec_t deadline = clock_boot() + (node->delay == 0 ? REDIS_NODE_PATIENCE : PROBE_PATIENCE);

    if (clock_boot() < node->retry_at)
        return error_set(err, TH_E_UNAVAILABLE, "%s", node->reason);
    if (deadline > redis->deadline)
        deadline = redis->deadline;
    if (!redis_link_open(&node->link, node->host, &redis->address, deadline, err) ||
        !probe(node, deadline, err)) {
        redis_link_close(&node->link);
        redis_node_leave(node, err);
        return false;
    }
    node->delay = 0;
    return true;
}

bool redis_node_open(struct redis *redis, size_t node, struct error *err)
{
    assert(redis->nodes && node < redis->node_count);
    struct redis_node *target = &redis->nodes[node];

    if (!redis_link_is_down(&target->link))
        return true;
    /* The server that answers may be another one, or have forgotten what it had not saved. */
    redis_names_done(&redis->known);
    if (redis->address.master)
        return redis_sentinel_open(redis, &target->link, err);
    if (redis->slot_nodes)
        return open_one_of_many(redis, target, err);
    return redis_link_open(&target->link, target->host, &redis->address, redis->deadline, err);
}
