/*
 * batch.c - the commands of one round trip.
 */
#include "store/redis/net/batch.h"

#include "base/cleanup.h"
#include "store/redis/net/cluster.h"
#include "store/redis/net/connection.h"
#include "store/redis/net/script.h"

#include <stdlib.h>

#define KEY_MAX   512
#define WORDS_MAX ((size_t)1 << 30)

struct redis_command *redis_batch_add(struct redis_batch *batch)
{
    size_t count = batch->count;

    /* Grows by doubling, at the powers of two. */
    if ((count & (count - 1)) == 0) {
        struct redis_command *items =
            realloc(batch->items, (count == 0 ? 1 : count * 2) * sizeof *items);
        if (!items)
            return NULL;
        batch->items = items;
    }
    batch->items[count] = (struct redis_command){
        .words = BUFFER(WORDS_MAX),
        .slot = REDIS_ANY_SLOT,
        .script = SCRIPTS,
        .asks = REDIS_NO_NODE,
    };
    batch->count++;
    return &batch->items[count];
}

static struct redis_command *add_script(struct redis_batch *batch, enum redis_script script,
                                        size_t keys)
{
    struct redis_command *command = redis_batch_add(batch);

    if (!command)
        return NULL;
    command->script = script;
    command->writes = redis_script_writes(script);
    redis_command_text(command, "EVALSHA");
    redis_command_text(command, redis_script_sha(script));
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

struct redis_command *redis_batch_on_queue(struct redis *redis, struct redis_batch *batch,
                                           enum redis_script script, const char *queue)
{
    return redis_batch_on_queues(redis, batch, script, &queue, 1);
}

static void add_named_key(const struct redis *redis, struct redis_command *command, const char *key)
{
    CLEANUP(buffer_done) struct buffer whole = BUFFER(KEY_MAX);

    buffer_printf(&whole, "%s:%s", redis->address.prefix, key);
    add_key(command, &whole);
}

struct redis_command *redis_batch_on_keys(struct redis *redis, struct redis_batch *batch,
                                          enum redis_script script, const char *const *keys,
                                          size_t count)
{
    struct redis_command *command = add_script(batch, script, count);

    for (size_t i = 0; command && i < count; i++)
        add_named_key(redis, command, keys[i]);
    return command;
}

struct redis_command *redis_batch_on_queues(struct redis *redis, struct redis_batch *batch,
                                            enum redis_script script, const char *const *queues,
                                            size_t count)
{
    struct redis_command *command = add_script(batch, script, 2 * count);

    for (size_t i = 0; command && i < count; i++)
        add_queue_keys(redis, command, queues[i]);
    return command;
}

struct redis_command *redis_batch_plain(struct redis *redis, struct redis_batch *batch,
                                        const char *word, const char *key, bool writes)
{
    struct redis_command *command = redis_batch_add(batch);

    if (!command)
        return NULL;
    command->writes = writes;
    redis_command_text(command, word);
    add_named_key(redis, command, key);
    return command;
}

void redis_batch_done(struct redis_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        buffer_done(&batch->items[i].words);
        if (batch->items[i].reply)
            freeReplyObject(batch->items[i].reply);
    }
    free(batch->items);
    *batch = (struct redis_batch){0};
}
