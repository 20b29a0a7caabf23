/*
 * batch.h - the commands of one round trip.
 */
#ifndef REDIS_BATCH_H
#define REDIS_BATCH_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/command.h"

struct redis;

/* One round trip, or one to each node of a cluster. */
struct redis_batch {
    struct redis_command *items; /* owned */
    size_t count;
    struct error failure; /* of redis_run_parts(): the first; its code is TH_OK when all is well */
    struct redis_batch *next; /* that was sent after it: ahead.h */
};

/* A command at the end; NULL when out of memory. The items move when the list grows. */
struct redis_command *redis_batch_add(struct redis_batch *batch) MUST_CHECK;

/* A script on the keys of one queue; its ARGV is the caller's. NULL when out of memory. */
struct redis_command *redis_batch_on_queue(struct redis *redis, struct redis_batch *batch,
                                           enum redis_script script, const char *queue) MUST_CHECK;

/* A script on the keys of several queues, all of which are on one server. */
struct redis_command *redis_batch_on_queues(struct redis *redis, struct redis_batch *batch,
                                            enum redis_script script, const char *const *queues,
                                            size_t count) MUST_CHECK;

/* A script on keys that are named by the caller: PREFIX:KEY each. */
struct redis_command *redis_batch_on_keys(struct redis *redis, struct redis_batch *batch,
                                          enum redis_script script, const char *const *keys,
                                          size_t count) MUST_CHECK;

/* A plain command on PREFIX:KEY. */
struct redis_command *redis_batch_plain(struct redis *redis, struct redis_batch *batch,
                                        const char *word, const char *key, bool writes) MUST_CHECK;

void redis_batch_done(struct redis_batch *batch);

#endif
