/*
 * upkeep.c - what becomes due, leases that ran out, what has been kept for long enough, and what
 * other producers have to know.
 *
 * Every pass looks at all queues first, in one round trip, and goes only to those that have
 * something to do. A queue that is away, in a cluster, or that cannot be made sense of is left for
 * the next pass.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/redis/net/reply.h"
#include "store/redis/net/word.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"
#include "store/redis/schema.h"

#include <stdio.h>

#define KEY_SIZE      (JOB_NAME_MAX + 32)
#define TELL_AGAIN    (60 * USEC_PER_SEC)
#define PLACE_LENGTH  71 /* of a member, as scripts/parts/place.lua has them */
#define NEWS_AT_ONCE  100
#define PRUNE_AT_ONCE ((size_t)1000)

/* Whether a pass can go on to the next queue. */
static bool is_away(const struct redis *redis, const struct error *err)
{
    return redis->slot_nodes && (err->code == TH_E_UNAVAILABLE || err->code == TH_E_UNCERTAIN);
}

/* A script that fails over what it finds in one queue fails again with each pass. */
static void tell_failure(struct redis *redis, const char *queue, const struct error *why)
{
    usec_t now = clock_boot();

    if (redis->slot_nodes || now < redis->failure_told_at + TELL_AGAIN)
        return;
    redis->failure_told_at = now;
    log_error("queue_lost", "queue=%s error=%s", queue, why->text);
}

/* A script on one queue: whatever is wrong with that is no business of the others. */
static bool run_one(struct redis *redis, struct redis_batch *batch, const char *queue,
                    bool *answered_out, struct error *err)
{
    *answered_out = false;
    if (!redis_run_parts(redis, batch, err))
        return is_away(redis, err);
    *answered_out = batch->items[0].reply != NULL;
    if (!*answered_out)
        tell_failure(redis, queue, &batch->failure);
    return true;
}

/* Plain commands on keys of each queue: word, key and an argument or two each. */
struct look {
    const char *word, *key, *first, *second; /* NULL: no such argument */
};

static bool look(struct redis *redis, const struct look *looks, size_t count,
                 struct redis_batch *batch, struct error *err)
{
    char key[KEY_SIZE];

    if (!redis_queues_recall(redis, err))
        return false;
    for (size_t i = 0; i < count * redis->queues.count; i++) {
        const struct look *one = &looks[i % count];
        snprintf(key, sizeof key, "{%s}:%s", redis->queues.items[i / count], one->key);
        struct redis_command *command = redis_batch_plain(redis, batch, one->word, key, false);
        if (!command)
            return error_no_memory(err);
        if (one->first)
            redis_command_text(command, one->first);
        if (one->second)
            redis_command_text(command, one->second);
    }
    return redis_run_parts(redis, batch, err) &&
           (!redis->slot_nodes || redis_run_worked(batch, err));
}

/* ---- promote ---- */

/* When the first job of the set is due; 0: it has none. Members begin with it; one that does not is
 * to be looked at now. */
static usec_t first_due(const redisReply *reply)
{
    char digits[REDIS_MOMENT_DIGITS + 1] = "0";

    if (!reply || reply->elements == 0)
        return 0;
    if (reply->element[0]->len != PLACE_LENGTH)
        return 1;
    snprintf(digits, sizeof digits, "%s", reply->element[0]->str);
    usec_t due = redis_reply_int(&(redisReply){.type = REDIS_REPLY_STRING, .str = digits});
    return due > 0 ? due : 1;
}

static bool promote_queue(struct redis *redis, const char *queue, const char *set, usec_t now,
                          size_t limit, size_t *moved_out, usec_t *next_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_PROMOTE, queue);
    bool answered;

    if (!command)
        return error_no_memory(err);
    redis_command_moment(command, now);
    redis_command_text(command, set);
    redis_command_int(command, (int64_t)limit);
    *next_out = now + USEC_PER_SEC; /* if it does not answer */
    if (!run_one(redis, &batch, queue, &answered, err))
        return false;
    if (!answered)
        return true;
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
    const struct look first_member = {"ZRANGE", set, "0", "0"};
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *moved_out = 0;
    *next_due_out = 0;
    redis_begin(redis);
    if (!look(redis, &first_member, 1, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++) {
        usec_t due = first_due(batch.items[i].reply);
        if (due != 0 && due <= now && *moved_out < limit &&
            !promote_queue(redis, redis->queues.items[i], set, now, limit - *moved_out, moved_out,
                           &due, err))
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
    bool more = true, answered;

    while (more && *moved_out < limit) {
        CLEANUP(redis_batch_done) struct redis_batch batch = {0};
        struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_RECLAIM, queue);
        if (!command)
            return error_no_memory(err);
        redis_command_now(redis, command, now);
        redis_command_int(command, (int64_t)(limit - *moved_out));
        if (!run_one(redis, &batch, queue, &answered, err))
            return false;
        if (!answered)
            return true;
        *moved_out += (size_t)redis_reply_int(batch.items[0].reply->element[0]);
        more = redis_reply_int(batch.items[0].reply->element[1]) == 1;
    }
    return true;
}

/* Whether a lease may have run out: what the queue expects, or has forgotten to expect. */
static bool may_have_expired(const redisReply *expected, usec_t now)
{
    return !expected || redis_reply_int(expected) <= now;
}

static bool has_any(const struct redis_command *count)
{
    return count->reply && count->reply->integer > 0;
}

/* Nobody else would ever look at a job whose twin has vanished. */
static bool unblock(struct redis *redis, const char *queue, usec_t now, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_UNBLOCK, queue);
    bool answered;

    if (!command)
        return error_no_memory(err);
    redis_command_moment(command, now);
    return run_one(redis, &batch, queue, &answered, err);
}

/* What scripts have met and set aside: parts/damage.lua. */
static bool tell_damage(struct redis *redis, const char *queue, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    char key[KEY_SIZE];

    snprintf(key, sizeof key, "{%s}:damage_news", queue);
    struct redis_command *command = redis_batch_plain(redis, &batch, "LPOP", key, true);
    if (!command)
        return error_no_memory(err);
    redis_command_int(command, NEWS_AT_ONCE);
    bool answered;
    if (!run_one(redis, &batch, queue, &answered, err))
        return false;
    const redisReply *news = batch.items[0].reply;
    for (size_t i = 0; answered && i < news->elements; i++)
        log_error("record_damaged", "queue=%s record=%s error=%s kept_in=%s:{%s}:damaged", queue,
                  news->element[i]->str, "it cannot be read: somebody has written over it",
                  redis->address.prefix, queue);
    return true;
}

bool redis_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                   struct error *err)
{
    enum { EXPECTED, LEASES, BATCHES, IDS, BLOCKED, NEWS, LOOKS };
    static const struct look looks[LOOKS] = {
        [EXPECTED] = {"HGET", "state", "next_expiry", NULL},
        [LEASES] = {"HLEN", "lease", NULL, NULL},
        [BATCHES] = {"HLEN", "batch", NULL, NULL},
        [IDS] = {"HLEN", "batch_ids", NULL, NULL},
        [BLOCKED] = {"ZCARD", "blocked", NULL, NULL},
        [NEWS] = {"LLEN", "damage_news", NULL, NULL},
    };
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *moved_out = 0;
    redis_begin(redis);
    if (!look(redis, looks, LOOKS, &batch, err))
        return false;
    for (size_t i = 0; i < redis->queues.count && *moved_out < limit; i++) {
        const struct redis_command *seen = &batch.items[i * LOOKS];
        const char *queue = redis->queues.items[i];
        const bool has_leases =
            has_any(&seen[LEASES]) || has_any(&seen[BATCHES]) || has_any(&seen[IDS]);
        if (has_leases && may_have_expired(seen[EXPECTED].reply, now) &&
            !reclaim_queue(redis, queue, now, limit, moved_out, err))
            return false;
        if ((has_any(&seen[BLOCKED]) && !unblock(redis, queue, now, err)) ||
            (has_any(&seen[NEWS]) && !tell_damage(redis, queue, err)))
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

static bool prune_part(struct redis *redis, const char *queue, const struct retention *keep,
                       usec_t now, size_t limit, size_t *removed_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_PRUNE, queue);
    bool answered;

    if (!command)
        return error_no_memory(err);
    redis_command_moment(command, now);
    redis_command_int(command, age_limit(now, keep->done));
    redis_command_int(command, age_limit(now, keep->dead));
    if (keep->done_max == SIZE_MAX)
        redis_command_text(command, "");
    else
        redis_command_int(command, (int64_t)keep->done_max);
    redis_command_int(command, (int64_t)limit);
    if (!run_one(redis, &batch, queue, &answered, err))
        return false;
    if (answered)
        *removed_out += (size_t)redis_reply_int(batch.items[0].reply);
    return true;
}

/* In parts: while a script runs, nobody else is served. */
static bool prune_queue(struct redis *redis, const char *queue, const struct retention *keep,
                        usec_t now, size_t limit, size_t *removed_out, struct error *err)
{
    size_t part = PRUNE_AT_ONCE, removed = PRUNE_AT_ONCE;

    for (size_t left = limit; left > 0 && removed == part; left -= removed) {
        part = left < PRUNE_AT_ONCE ? left : PRUNE_AT_ONCE;
        removed = 0;
        if (!prune_part(redis, queue, keep, now, part, &removed, err))
            return false;
        *removed_out += removed;
    }
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
                         removed_out, err))
            return false;
    return true;
}

/* ---- publish ---- */

static bool put_limits(struct redis *redis, struct redis_batch *batch, const char *key,
                       const struct store_limits *limits, struct error *err)
{
    struct redis_command *command = redis_batch_plain(redis, batch, "HSET", key, false);

    if (!command)
        return error_no_memory(err);
    redis_command_text(command, "max_payload");
    redis_command_int(command, (int64_t)limits->max_payload);
    redis_command_text(command, "idempotency_window");
    redis_command_int(command, limits->idempotency_window);
    return true;
}

/* In a cluster the producers' script reaches nothing but its queue: each has them. */
bool redis_publish(struct store *store, const struct store_limits *limits, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    char key[KEY_SIZE];

    redis_begin(redis);
    if (!put_limits(redis, &batch, REDIS_SCHEMA_KEY, limits, err))
        return false;
    if (redis->slot_nodes && !redis_queues_load(redis, err))
        return false;
    for (size_t i = 0; redis->slot_nodes && i < redis->queues.count; i++) {
        snprintf(key, sizeof key, "{%s}:state", redis->queues.items[i]);
        if (!put_limits(redis, &batch, key, limits, err))
            return false;
    }
    return redis_run(redis, &batch, err);
}
