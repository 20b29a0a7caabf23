/*
 * connection.h - an open store on Redis: the servers behind it, and round trips to them.
 *
 *   an operation --commands--> struct redis_batch --redis_run()--> replies
 *                                                    |
 *                       net/class.h: load a script, follow a slot, repeat, give up
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
#include "store/redis/net/command.h"
#include "store/redis/net/link.h"
#include "store/redis/parts/names.h"

#define REDIS_SLOTS     16384
#define REDIS_NODES_MAX 1000

struct redis_node {
    struct redis_host host; /* its name is owned */
    struct redis_link link;
    usec_t retry_at;  /* boot time before which nobody knocks again; of a cluster's only */
    usec_t delay;     /* the last one; 0: it answers */
    char reason[256]; /* why it was left alone */
};

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
    usec_t failure_told_at; /* boot time; of a queue whose script fails */
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

/* A node with this address, added if need be. */
bool redis_node_find(struct redis *redis, const char *name, int port, size_t *node_out,
                     struct error *err) MUST_CHECK;

/* A node that is ready to be spoken to. One of a cluster that did not answer is not waited for
 * again at once: the others have work to do. */
bool redis_node_open(struct redis *redis, size_t node, struct error *err) MUST_CHECK;

/* It kept us waiting in vain: it is left alone for a while, which grows from 100 ms to 5 s. */
void redis_node_leave(struct redis_node *node, const struct error *why);

/* Sends all of them and waits for all replies, which stay in the commands. When it fails the code
 * is TH_E_UNCERTAIN if anything may have been changed. */
bool redis_run(struct redis *redis, struct redis_batch *batch, struct error *err) MUST_CHECK;

/* The same for commands that have nothing to do with each other: a script that fails over what it
 * finds, and in a cluster a node that is down or a slot on the move, is the `outcome` of its
 * commands, which have no reply then, and holds up no other. It fails when no node answers. */
bool redis_run_parts(struct redis *redis, struct redis_batch *batch, struct error *err) MUST_CHECK;

/* False, with the reason, when not one of them has a reply: for callers to whom that is a failure.
 */
bool redis_batch_worked(const struct redis_batch *batch, struct error *err) MUST_CHECK;

/* ---- commands ---- */

/* A script on the keys of one queue; its ARGV is the caller's. NULL when out of memory. */
struct redis_command *redis_on_queue(struct redis *redis, struct redis_batch *batch,
                                     enum redis_script script, const char *queue) MUST_CHECK;

/* Its first two words: now, and whether the server is to agree that a lease is over (over_at() of
 * scripts/parts/base.lua). */
void redis_command_now(const struct redis *redis, struct redis_command *command, usec_t now);

/* A script on the keys of several queues, all of which are on one server. */
struct redis_command *redis_on_queues(struct redis *redis, struct redis_batch *batch,
                                      enum redis_script script, const char *const *queues,
                                      size_t count) MUST_CHECK;

/* A script on keys that are named by the caller: PREFIX:KEY each. */
struct redis_command *redis_on_keys(struct redis *redis, struct redis_batch *batch,
                                    enum redis_script script, const char *const *keys,
                                    size_t count) MUST_CHECK;

/* A plain command on PREFIX:KEY. */
struct redis_command *redis_plain(struct redis *redis, struct redis_batch *batch, const char *word,
                                  const char *key, bool writes) MUST_CHECK;

const char *redis_script_text(enum redis_script script);

#endif
