/*
 * heartbeat.c - pools say that they live, and extend what they hold: one round trip.
 */
#include "base/cleanup.h"
#include "store/redis/codec/verdict.h"
#include "store/redis/ops/ops.h"
#include "store/redis/protocol.h"

#include <stdlib.h>
#include <string.h>

#define WORD_MAX ((size_t)1 << 20)

/* A command to a queue: those of its leases that last as long. */
struct beat_group {
    const char *queue;
    usec_t lease_for;
};

/* The pools' own beats are the first commands. */
struct beating {
    const struct heartbeat *pools;
    size_t pool_count, lease_count;
    usec_t now, lead;
    struct beat_group *groups; /* owned; of each command */
    size_t *command_of;        /* owned; of each lease */
};

static void beating_done(struct beating *beating)
{
    free(beating->groups);
    free(beating->command_of);
}

static bool make_room(struct beating *beating, struct error *err)
{
    for (size_t i = 0; i < beating->pool_count; i++)
        beating->lease_count += beating->pools[i].lease_count;
    beating->groups = calloc(beating->pool_count + beating->lease_count, sizeof *beating->groups);
    beating->command_of = calloc(beating->lease_count + 1, sizeof *beating->command_of);
    return (beating->groups && beating->command_of) || error_no_memory(err);
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

/* The command of this group, made if it is the first lease of it. */
static bool command_for(struct redis *redis, struct beating *beating, struct redis_batch *batch,
                        const struct beat_group *group, size_t *number_out, struct error *err)
{
    for (size_t i = batch->count; i-- > beating->pool_count;) {
        *number_out = i;
        if (beating->groups[i].lease_for == group->lease_for &&
            strcmp(beating->groups[i].queue, group->queue) == 0)
            return true;
    }
    struct redis_command *command =
        redis_batch_on_queue(redis, batch, SCRIPT_HEARTBEAT, group->queue);
    if (!command)
        return error_no_memory(err);
    *number_out = batch->count - 1;
    beating->groups[*number_out] = *group;
    redis_command_now(redis, command, beating->now);
    redis_command_moment(command, beating->now + beating->lead + group->lease_for);
    return true;
}

static bool ask(struct redis *redis, struct beating *beating, struct redis_batch *batch,
                struct error *err)
{
    size_t *command_of = beating->command_of;

    for (size_t i = 0; i < beating->pool_count; i++)
        if (!redis_pools_beat(redis, batch, &beating->pools[i], beating->now))
            return error_no_memory(err);
    for (size_t i = 0; i < beating->pool_count; i++) {
        const struct heartbeat *pool = &beating->pools[i];

        for (size_t k = 0; k < pool->lease_count; k++, command_of++) {
            const struct lease_beat *lease = &pool->leases[k];
            const struct beat_group group = {lease->queue, lease->lease_for != 0 ? lease->lease_for
                                                                                 : pool->lease_for};

            if (!command_for(redis, beating, batch, &group, command_of, err))
                return false;
            add_lease(&batch->items[*command_of], lease);
        }
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
        .cancel_requested = word == REDIS_SAYS_CANCELLING[0] || word == REDIS_SAYS_BOTH[0],
        .watched = word == REDIS_SAYS_WATCHED[0] || word == REDIS_SAYS_BOTH[0],
    };
    return true;
}

static bool hear(const struct beating *beating, const struct redis_batch *batch,
                 struct lease_answer *answers_out, struct pool_answer *pools_out, struct error *err)
{
    AUTO_FREE size_t *next = calloc(batch->count, sizeof *next);

    if (!next)
        return error_no_memory(err);
    for (size_t i = 0; i < beating->pool_count; i++)
        pools_out[i] = redis_pools_answer(&batch->items[i]);
    for (size_t i = 0; i < beating->lease_count; i++) {
        size_t command = beating->command_of[i];
        if (!read_answer(&batch->items[command], next[command]++, &answers_out[i], err))
            return false;
    }
    return true;
}

bool redis_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count,
                     usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                     struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    CLEANUP(beating_done)
    struct beating beating = {
        .pools = heartbeats,
        .pool_count = count,
        .now = now,
        .lead = store_lead(store),
    };

    redis_begin(redis);
    return make_room(&beating, err) && ask(redis, &beating, &batch, err) &&
           hear(&beating, &batch, answers_out, pools_out, err);
}
