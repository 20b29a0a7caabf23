/*
 * cluster.c - the map of slots.
 */
#include "store/redis/net/cluster.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "store/redis/net/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX 256

/* CRC16-CCITT (XModem), as the cluster specification has it. */
static uint16_t crc16(const char *bytes, size_t length)
{
    uint16_t crc = 0;

    for (size_t i = 0; i < length; i++) {
        crc = (uint16_t)(crc ^ (uint16_t)((unsigned char)bytes[i] << 8));
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
    }
    return crc;
}

int redis_cluster_slot(const char *key)
{
    const char *open = strchr(key, '{');
    const char *close = open ? strchr(open, '}') : NULL;

    if (close && close > open + 1)
        return crc16(open + 1, (size_t)(close - open - 1)) % REDIS_SLOTS;
    return crc16(key, strlen(key)) % REDIS_SLOTS;
}

/* One that answered when it was asked last; the first when there is none. */
static size_t any_node(const struct redis *redis)
{
    for (size_t i = 0; i < redis->node_count; i++)
        if (redis->nodes[i].delay == 0)
            return i;
    return 0;
}

size_t redis_cluster_node_of(const struct redis *redis, int slot)
{
    if (!redis->slot_nodes)
        return 0;
    return slot == REDIS_ANY_SLOT ? any_node(redis) : redis->slot_nodes[slot];
}

/* [first, last, [host, port, ...], ...]. A node that does not know its own address gives none: then
 * it is the one that was asked. */
static bool read_range(struct redis *redis, size_t asked, const redisReply *range,
                       struct error *err)
{
    const redisReply *master = range->elements >= 3 ? range->element[2] : NULL;
    size_t node;

    if (!master || master->type != REDIS_REPLY_ARRAY || master->elements < 2)
        return error_set(err, TH_E_UNAVAILABLE, "redis: the cluster's map cannot be read");
    const char *name = master->element[0]->str;
    if (!name || name[0] == '\0')
        name = redis->nodes[asked].host.name;
    if (!redis_node_find(redis, name, (int)master->element[1]->integer, &node, err))
        return false;
    long long first = range->element[0]->integer, last = range->element[1]->integer;
    for (long long slot = first; slot >= 0 && slot <= last && slot < REDIS_SLOTS; slot++)
        redis->slot_nodes[slot] = (uint16_t)node;
    return true;
}

static bool read_map(struct redis *redis, size_t asked, const redisReply *map, struct error *err)
{
    for (size_t i = 0; i < map->elements; i++)
        if (!read_range(redis, asked, map->element[i], err))
            return false;
    redis->map_is_stale = false;
    return true;
}

static bool ask_for_map(struct redis *redis, size_t node, redisReply **reply_out, struct error *err)
{
    static const char *const words[] = {"CLUSTER", "SLOTS"};
    struct redis_link *link = &redis->nodes[node].link;

    if (!redis_node_open(redis, node, err))
        return false;
    redis_link_add_words(link, words, COUNT_OF(words));
    return redis_link_reply(link, redis->deadline, reply_out, err);
}

bool redis_cluster_detect(struct redis *redis, struct error *err)
{
    REDIS_REPLY reply = NULL;

    if (redis->address.master)
        return true;
    if (!ask_for_map(redis, 0, &reply, err))
        return false;
    if (reply->type != REDIS_REPLY_ARRAY) /* cluster support is disabled, or not ours to ask for */
        return redis->address.host_count == 1 ||
               error_set(err, TH_E_INVALID, "%s: names several hosts, which are no cluster",
                         redis->address.shown);
    if (redis->address.database != 0)
        return error_set(err, TH_E_INVALID, "%s: a cluster has only the database 0",
                         redis->address.shown);
    redis->slot_nodes = calloc(REDIS_SLOTS, sizeof *redis->slot_nodes);
    if (!redis->slot_nodes)
        return error_no_memory(err);
    return read_map(redis, 0, reply, err);
}

/* Whichever node answers first: they all know. */
bool redis_cluster_refresh(struct redis *redis, struct error *err)
{
    if (!redis->slot_nodes || !redis->map_is_stale)
        return true;
    for (size_t i = 0; i < redis->node_count; i++) {
        REDIS_REPLY reply = NULL;
        if (!ask_for_map(redis, i, &reply, err) || reply->type != REDIS_REPLY_ARRAY ||
            reply->elements == 0)
            continue;
        return read_map(redis, i, reply, err);
    }
    return error_set(err, TH_E_UNAVAILABLE, "redis: no node of the cluster answers");
}

/* "MOVED 3999 127.0.0.1:6381" */
static bool read_target(const char *reply, int *slot_out, char host[HOST_MAX], int *port_out)
{
    const char *slot = strchr(reply, ' ');
    const char *address = slot ? strchr(slot + 1, ' ') : NULL;
    const char *colon = address ? strrchr(address, ':') : NULL;
    char digits[16];
    int64_t number;

    if (!colon || (size_t)(colon - address) > HOST_MAX)
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)(address - slot - 1), slot + 1);
    if (!text_to_int(digits, 0, REDIS_SLOTS - 1, &number))
        return false;
    *slot_out = (int)number;
    snprintf(host, HOST_MAX, "%.*s", (int)(colon - address - 1), address + 1);
    if (!text_to_int(colon + 1, 1, 65535, &number))
        return false;
    *port_out = (int)number;
    return true;
}

bool redis_cluster_follow(struct redis *redis, size_t from, const char *reply, size_t *node_out,
                          struct error *err)
{
    char host[HOST_MAX];
    int named_slot, port;
    size_t node;

    if (!redis->slot_nodes || !read_target(reply, &named_slot, host, &port))
        return error_set(err, TH_E_UNAVAILABLE, "redis: cannot follow '%s'", reply);
    const char *name = host[0] != '\0' ? host : redis->nodes[from].host.name;
    if (!redis_node_find(redis, name, port, &node, err))
        return false;
    if (node_out)
        *node_out = node;
    else
        redis->slot_nodes[named_slot] = (uint16_t)node;
    return true;
}
