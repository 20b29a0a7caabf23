/*
 * redis_upkeep.c - what becomes due, leases that ran out, and what has been kept for long enough.
 *
 * Every pass looks at all queues first, in one round trip, and goes only to those that have
 * something to do. In a cluster, those that are away are left for the next pass.
 */
#include "base/cleanup.h"
#include "store/redis/redis_jobs.h"
#include "store/redis/redis_queues.h"
#include "store/redis/redis_record.h"

#include <stdio.h>

#define KEY_SIZE (JOB_NAME_MAX + 32)

/* Whether a pass can go on to the next queue. */
static bool is_away(const struct redis *redis, const struct error *err)
{
    return redis->slot_nodes != NULL &&
           (err->code == TH_E_UNAVAILABLE || err->code == TH_E_UNCERTAIN);
}

/* Whoever is away is not waited for. */
static bool run(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    return redis_run_parts(redis, batch, err) && redis_batch_worked(batch, err);
}

/* A plain command on one key of each queue, with the words behind the key. */
static bool look(struct redis *redis, const char *word, const char *name, const char *const *words,
                 size_t count, struct redis_batch *batch, struct error *err)
{
    char key[KEY_SIZE];

    if (!redis_queues_recall(redis, err))
        return false;
    for (size_t i = 0; i < redis->queues.count; i++) {
        snprintf(key, sizeof(key), "{%s}:%s", redis->queues.items[i], name);
        struct redis_command *command = redis_plain(redis, batch, word, key, false);
        if (command == NULL)
            return error_no_memory(err);
        for (size_t k = 0; k < count; k++)
            redis_command_text(command, words[k]);
    }
    return run(redis, batch, err);
}

/* ---- promote ---- */

/* When the first job of the set is due; 0: it has none. Members begin with it. */
static usec_t first_due(const redisReply *reply)
{
    char digits[REDIS_MOMENT_DIGITS + 1] = "0";

    if (reply != NULL && reply->elements > 0)
        snprintf(digits, sizeof(digits), "%s", reply->element[0]->str);
    return redis_reply_int(&(redisReply){.type = REDIS_REPLY_STRING, .str = digits});
}

static bool promote_queue(struct redis *redis, const char *queue, const char *set, usec_t now,
                          size_t limit, size_t *moved_out, usec_t *next_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_on_queue(redis, &batch, SCRIPT_PROMOTE, queue);

    if (command == NULL)
        return error_no_memory(err);
    redis_command_moment(command, now);
    redis_command_text(command, set);
    redis_command_int(command, (int64_t)limit);
    if (!run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    *moved_out += (size_t)redis_reply_int(reply->element[0]);
    *next_out = redis_reply_int(reply->element[1]);
    return true;
}

static usec_t earlier(usec_t a, usec_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

bool redis_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                   size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    const char *set = job_state_name(state);
    static const char *const first_member[] = {"0", "0"};
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *moved_out = 0;
    *next_due_out = 0;
    redis_begin(redis);
    if (!look(redis, "ZRANGE", set, first_member, COUNT_OF(first_member), &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++) {
        usec_t due = first_due(batch.items[i].reply);
        if (due != 0 && due <= now && *moved_out < limit &&
            !promote_queue(redis, redis->queues.items[i], set, now, limit - *moved_out, moved_out,
                           &due, err) &&
            !is_away(redis, err))
            return false;
        *next_due_out = earlier(*next_due_out, due);
    }
    return true;
}

/* ---- reclaim ---- */

/* A part at a time, until all leases were looked at. */
static bool reclaim_queue(struct redis *redis, const char *queue, usec_t now, size_t limit,
                          size_t *moved_out, struct error *err)
{
    bool more = true;

    while (more && *moved_out < limit) {
        CLEANUP(redis_batch_done) struct redis_batch batch = {0};
        struct redis_command *command = redis_on_queue(redis, &batch, SCRIPT_RECLAIM, queue);
        if (command == NULL)
            return error_no_memory(err);
        redis_command_moment(command, now);
        redis_command_int(command, (int64_t)(limit - *moved_out));
        if (!run(redis, &batch, err))
            return false;
        *moved_out += (size_t)redis_reply_int(batch.items[0].reply->element[0]);
        more = redis_reply_int(batch.items[0].reply->element[1]) == 1;
    }
    return true;
}

bool redis_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                   struct error *err)
{
    struct redis *redis = redis_of(store);
    static const char *const field[] = {"next_expiry"};
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *moved_out = 0;
    redis_begin(redis);
    if (!look(redis, "HGET", "state", field, COUNT_OF(field), &batch, err))
        return false;
    for (size_t i = 0; i < batch.count && *moved_out < limit; i++) {
        const redisReply *reply = batch.items[i].reply;
        usec_t expected = reply != NULL ? redis_reply_int(reply) : 0;
        if (expected != 0 && expected <= now &&
            !reclaim_queue(redis, redis->queues.items[i], now, limit, moved_out, err) &&
            !is_away(redis, err))
            return false;
    }
    return true;
}

/* ---- prune ---- */

/* The moment at or before which jobs of this age are past their time. */
static usec_t age_limit(usec_t now, usec_t age)
{
    return age >= now ? 0 : now - age;
}

static bool prune_queue(struct redis *redis, const char *queue, const struct retention *keep,
                        usec_t now, size_t limit, size_t *removed_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_on_queue(redis, &batch, SCRIPT_PRUNE, queue);

    if (command == NULL)
        return error_no_memory(err);
    redis_command_moment(command, now);
    redis_command_int(command, age_limit(now, keep->done));
    redis_command_int(command, age_limit(now, keep->dead));
    if (keep->done_max == SIZE_MAX)
        redis_command_text(command, "");
    else
        redis_command_int(command, (int64_t)keep->done_max);
    redis_command_int(command, (int64_t)limit);
    if (!run(redis, &batch, err))
        return false;
    *removed_out += (size_t)redis_reply_int(batch.items[0].reply);
    return true;
}

bool redis_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                 size_t *removed_out, struct error *err)
{
    struct redis *redis = redis_of(store);

    *removed_out = 0;
    redis_begin(redis);
    if (!redis_queues_recall(redis, err))
        return false;
    for (size_t i = 0; i < redis->queues.count && *removed_out < limit; i++)
        if (!prune_queue(redis, redis->queues.items[i], keep, now, limit - *removed_out,
                         removed_out, err) &&
            !is_away(redis, err))
            return false;
    return true;
}
