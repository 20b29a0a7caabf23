/*
 * heartbeat.c - a pool says that it lives, and extends what it holds: one round trip.
 */
#include "base/cleanup.h"
#include "store/redis/codec/verdict.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#define WORD_MAX ((size_t)1 << 20)

/* Which command each lease went into; the pool's own beat is the first. */
struct beating {
    const struct heartbeat *heartbeat;
    usec_t now;
    const char **queues; /* owned; of each command */
    size_t *command_of;  /* owned; of each lease */
};

static void beating_done(struct beating *beating)
{
    free(beating->queues);
    free(beating->command_of);
}

/* Text that may be absent: with a sign before it when it is there. */
static void add_optional(struct redis_command *command, const void *data, size_t length)
{
    CLEANUP(buffer_done) struct buffer word = BUFFER(WORD_MAX);

    if (data) {
        buffer_char(&word, '=');
        buffer_add(&word, data, length);
    }
    redis_command_bytes(command, word.data, word.length);
}

static void add_lease(struct redis_command *command, const struct lease_beat *lease)
{
    const char *text = lease->progress_text;

    redis_command_uuid(command, &lease->job);
    redis_command_bytes(command, lease->token.bytes, sizeof lease->token.bytes);
    redis_command_int(command, lease->worker);
    redis_command_int(command, lease->progress_percent < 0 ? -1 : lease->progress_percent);
    add_optional(command, text, text ? strlen(text) : 0);
    add_optional(command, lease->output.data, lease->output.length);
}

/* The command of this queue, made if it is the first lease of it. */
static bool command_for(struct redis *redis, struct beating *beating, struct redis_batch *batch,
                        const char *queue, size_t *number_out, struct error *err)
{
    for (*number_out = batch->count; --*number_out > 0;)
        if (strcmp(beating->queues[*number_out], queue) == 0)
            return true;
    struct redis_command *command = redis_batch_on_queue(redis, batch, SCRIPT_HEARTBEAT, queue);
    if (!command)
        return error_no_memory(err);
    *number_out = batch->count - 1;
    beating->queues[*number_out] = queue;
    redis_command_now(redis, command, beating->now);
    redis_command_moment(command, beating->now + beating->heartbeat->lease_for);
    return true;
}

static bool ask(struct redis *redis, struct beating *beating, struct redis_batch *batch,
                struct error *err)
{
    const struct heartbeat *heartbeat = beating->heartbeat;

    if (!redis_pools_beat(redis, batch, heartbeat, beating->now))
        return error_no_memory(err);
    for (size_t i = 0; i < heartbeat->lease_count; i++) {
        const struct lease_beat *lease = &heartbeat->leases[i];
        if (!command_for(redis, beating, batch, lease->queue, &beating->command_of[i], err))
            return false;
        add_lease(&batch->items[beating->command_of[i]], lease);
    }
    return redis_run_parts(redis, batch, err) && redis_run_worked(batch, err);
}

static bool read_answer(const struct redis_command *command, size_t heard,
                        struct lease_answer *answer_out, struct error *err)
{
    const redisReply *reply = command->reply;

    *answer_out = (struct lease_answer){.verdict = TH_E_UNAVAILABLE};
    if (command->outcome != TH_OK)
        return true;
    if (reply->type != REDIS_REPLY_STRING || heard >= reply->len)
        return error_set(err, TH_E_INTERNAL, "redis: heartbeat answered too little");
    const char word = reply->str[heard];
    *answer_out = (struct lease_answer){
        .verdict = redis_verdict_of(word),
        .cancel_requested = word == 'k' || word == 'b',
        .watched = word == 'w' || word == 'b',
    };
    return true;
}

static bool hear(const struct beating *beating, const struct redis_batch *batch,
                 struct lease_answer *answers_out, struct error *err)
{
    AUTO_FREE size_t *next = calloc(batch->count, sizeof *next);

    if (!next)
        return error_no_memory(err);
    for (size_t i = 0; i < beating->heartbeat->lease_count; i++) {
        size_t command = beating->command_of[i];
        if (!read_answer(&batch->items[command], next[command]++, &answers_out[i], err))
            return false;
    }
    return true;
}

bool redis_heartbeat(struct store *store, const struct heartbeat *heartbeat, usec_t now,
                     struct lease_answer *answers_out, bool *registered_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    CLEANUP(beating_done)
    struct beating beating = {
        .heartbeat = heartbeat,
        .now = now,
        .queues = calloc(heartbeat->lease_count + 1, sizeof *beating.queues),
        .command_of = calloc(heartbeat->lease_count + 1, sizeof *beating.command_of),
    };

    if (!beating.queues || !beating.command_of)
        return error_no_memory(err);
    redis_begin(redis);
    if (!ask(redis, &beating, &batch, err))
        return false;
    /* Nobody can have removed it while its place does not answer. */
    *registered_out = batch.items[0].outcome != TH_OK || batch.items[0].reply->integer > 0;
    if (heartbeat->watched_out)
        *heartbeat->watched_out =
            batch.items[0].outcome == TH_OK && batch.items[0].reply->integer == 2;
    return hear(&beating, &batch, answers_out, err);
}
