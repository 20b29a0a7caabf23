/*
 * connection.c - the nodes of a store, and commands for them.
 */
#define REDIS_SCRIPTS /* this is the one file that has their texts */
#include "store/redis/net/connection.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/redis/net/cluster.h"
#include "store/redis/net/sentinel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 512

/* How long the node of a cluster may take to be connected to, and is left alone when it does not.
 */
#define NODE_PATIENCE  USEC_PER_SEC
#define PROBE_PATIENCE (200 * USEC_PER_MSEC) /* when it did not answer before */
#define FIRST_DELAY    (100 * USEC_PER_MSEC)
#define MAX_DELAY      (5 * USEC_PER_SEC)

/* ---- nodes ---- */

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
        reallocarray(redis->nodes, redis->node_count + 1, sizeof(*redis->nodes));
    if (nodes == NULL)
        return error_no_memory(err);
    redis->nodes = nodes;
    char *copy = strdup(name);
    if (copy == NULL)
        return error_no_memory(err);
    nodes[redis->node_count++] = (struct redis_node){.host = {.name = copy, .port = port}};
    return true;
}

void redis_node_leave(struct redis_node *node, const struct error *why)
{
    snprintf(node->reason, sizeof(node->reason), "%.255s", why->text);
    node->delay = node->delay == 0 ? FIRST_DELAY : 2 * node->delay;
    if (node->delay > MAX_DELAY)
        node->delay = MAX_DELAY;
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
    usec_t deadline = clock_boot() + (node->delay == 0 ? NODE_PATIENCE : PROBE_PATIENCE);

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
    assert(redis->nodes != NULL && node < redis->node_count);
    struct redis_node *target = &redis->nodes[node];

    if (!redis_link_is_down(&target->link))
        return true;
    /* The server that answers may be another one, or have forgotten what it had not saved. */
    redis_names_done(&redis->known);
    if (redis->address.master != NULL)
        return redis_sentinel_open(redis, &target->link, err);
    if (redis->slot_nodes != NULL)
        return open_one_of_many(redis, target, err);
    return redis_link_open(&target->link, target->host, &redis->address, redis->deadline, err);
}

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
        redis->deadline = clock_boot() + NODE_PATIENCE;
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
    return address->master != NULL || address->host_count == 1
               ? connect_to(redis, &address->hosts[0], err)
               : connect_by_any(redis, err);
}

bool redis_connect(struct redis_address *address, struct redis **redis_out, struct error *err)
{
    struct redis *redis = calloc(1, sizeof(*redis));

    if (redis == NULL)
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

/* ---- commands ---- */

/* Read-only scripts can be repeated without a doubt. */
static bool script_writes(enum redis_script script)
{
    return strstr(redis_scripts[script].text, "flags=no-writes") == NULL;
}

static struct redis_command *add_script(struct redis_batch *batch, enum redis_script script,
                                        size_t keys)
{
    struct redis_command *command = redis_batch_add(batch);

    if (command == NULL)
        return NULL;
    command->script = script;
    command->writes = script_writes(script);
    redis_command_text(command, "EVALSHA");
    redis_command_text(command, redis_scripts[script].sha);
    redis_command_int(command, (int64_t)keys);
    return command;
}

/* A key, which also says where the command goes. */
static void add_key(struct redis_command *command, const struct buffer *key)
{
    if (command->key_count++ == 0)
        command->keys_at = command->words.length;
    redis_command_bytes(command, key->data, key->length);
    command->keys_end = command->words.length;
    command->slot = redis_cluster_slot(buffer_str(key));
}

/* scripts/parts/base.lua says why there are two. */
static void add_queue_keys(const struct redis *redis, struct redis_command *command,
                           const char *queue)
{
    CLEANUP(buffer_done) struct buffer key = BUFFER(KEY_MAX);

    buffer_printf(&key, "%s:{%s}:", redis->address.prefix, queue);
    add_key(command, &key);
    buffer_text(&key, "state");
    add_key(command, &key);
}

struct redis_command *redis_on_queue(struct redis *redis, struct redis_batch *batch,
                                     enum redis_script script, const char *queue)
{
    return redis_on_queues(redis, batch, script, &queue, 1);
}

/* The clocks of a cluster's nodes differ, and what is followed is that of one of them. */
void redis_command_now(const struct redis *redis, struct redis_command *command, usec_t now)
{
    const bool is_clocked = redis->base.is_clocked && redis->slot_nodes == NULL;

    redis_command_moment(command, now);
    redis_command_int(command, is_clocked ? 1 : 0);
}

static void add_named_key(const struct redis *redis, struct redis_command *command, const char *key)
{
    CLEANUP(buffer_done) struct buffer whole = BUFFER(KEY_MAX);

    buffer_printf(&whole, "%s:%s", redis->address.prefix, key);
    add_key(command, &whole);
}

struct redis_command *redis_on_keys(struct redis *redis, struct redis_batch *batch,
                                    enum redis_script script, const char *const *keys, size_t count)
{
    struct redis_command *command = add_script(batch, script, count);

    for (size_t i = 0; command != NULL && i < count; i++)
        add_named_key(redis, command, keys[i]);
    return command;
}

struct redis_command *redis_on_queues(struct redis *redis, struct redis_batch *batch,
                                      enum redis_script script, const char *const *queues,
                                      size_t count)
{
    struct redis_command *command = add_script(batch, script, 2 * count);

    for (size_t i = 0; command != NULL && i < count; i++)
        add_queue_keys(redis, command, queues[i]);
    return command;
}

struct redis_command *redis_plain(struct redis *redis, struct redis_batch *batch, const char *word,
                                  const char *key, bool writes)
{
    struct redis_command *command = redis_batch_add(batch);

    if (command == NULL)
        return NULL;
    command->writes = writes;
    redis_command_text(command, word);
    add_named_key(redis, command, key);
    return command;
}

const char *redis_script_text(enum redis_script script)
{
    return redis_scripts[script].text;
}
