/*
 * cron.c - the last slot of each schedule, the job of the next one, and its pause.
 *
 * A slot is kept beside its job, in the queue's own slot of the cluster, so that both are stored by
 * one script. A schedule that moved to another queue has its last slot in the old one: all queues
 * are asked before. Marks, which come without a job, and pauses have keys of their own.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "job/cron_due.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <stdio.h>
#include <string.h>

#define MARKS  "cron"
#define PAUSES "cron_paused" /* names to AT BY */

static bool ask_last(struct redis *redis, const char *name, struct redis_batch *batch,
                     struct error *err)
{
    char key[JOB_NAME_MAX + 16];

    if (!redis_queues_load(redis, err))
        return false;
    for (size_t i = 0; i <= redis->queues.count; i++) {
        bool is_mark = i == redis->queues.count;
        snprintf(key, sizeof key, "{%s}:cron", is_mark ? "" : redis->queues.items[i]);
        struct redis_command *command =
            redis_batch_plain(redis, batch, "HGET", is_mark ? MARKS : key, false);
        if (!command)
            return error_no_memory(err);
        redis_command_text(command, name);
    }
    return redis_run(redis, batch, err);
}

static bool find_last(struct redis *redis, const char *name, usec_t now, usec_t *slot_out,
                      usec_t *doubted_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    *slot_out = *doubted_out = 0;
    if (!ask_last(redis, name, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++) {
        usec_t slot = redis_reply_int(batch.items[i].reply);
        usec_t *found = slot <= cron_horizon(now) ? slot_out : doubted_out;
        if (slot > *found)
            *found = slot;
    }
    return true;
}

static bool store_slot(struct redis *redis, const char *name, usec_t slot, usec_t last,
                       const struct job *job, usec_t now, bool *stored_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_queue(redis, &batch, SCRIPT_ENQUEUE, job->queue);
    struct redis_coming before = {0};

    if (!command)
        return error_no_memory(err);
    redis_command_moment(command, now);
    redis_command_text(command, "");
    redis_command_text(command, name);
    redis_command_int(command, slot);
    redis_command_int(command, last);
    redis_command_int(command, cron_horizon(now));
    redis_enqueue_words(command, &before, 1, job, now);
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    if (text_equal(reply->element[0]->str, "conflict"))
        return redis_enqueue_conflict(reply, job, err);
    *stored_out = text_equal(reply->element[0]->str, "ok");
    return true;
}

bool redis_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                        usec_t now, bool *stored_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    usec_t last, doubted;

    redis_begin(redis);
    *stored_out = false;
    if (!find_last(redis, name, now, &last, &doubted, err))
        return false;
    if (slot <= last)
        return true;
    return redis_queues_add(redis, &job->queue, 1, err) &&
           store_slot(redis, name, slot, last, job, now, stored_out, err);
}

/* One command on the field of this name in a hash; the caller adds what else it takes. */
static struct redis_command *start_on(struct redis *redis, struct redis_batch *batch,
                                      const char *word, const char *hash, const char *name,
                                      bool writes)
{
    struct redis_command *command = redis_batch_plain(redis, batch, word, hash, writes);

    if (command)
        redis_command_text(command, name);
    return command;
}

/* "AT BY"; what is no such thing still pauses it. */
static void read_pause(const char *text, struct cron_past *past_out)
{
    const size_t digits = strcspn(text, " ");
    char at[32];

    snprintf(at, sizeof at, "%.*s", (int)(digits < sizeof at ? digits : 0), text);
    if (!text_to_int(at, 1, TIMESTAMP_MAX, &past_out->paused_at))
        past_out->paused_at = 1;
    snprintf(past_out->paused_by, sizeof past_out->paused_by, "%s",
             text[digits] == ' ' ? text + digits + 1 : "");
}

static bool find_pause(struct redis *redis, const char *name, struct cron_past *past_out,
                       struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    if (!start_on(redis, &batch, "HGET", PAUSES, name, false))
        return error_no_memory(err);
    if (!redis_run(redis, &batch, err))
        return false;
    if (batch.items[0].reply->type == REDIS_REPLY_STRING)
        read_pause(batch.items[0].reply->str, past_out);
    return true;
}

bool redis_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                     struct error *err)
{
    struct redis *redis = redis_of(store);

    redis_begin(redis);
    return find_last(redis, name, now, &past_out->last, &past_out->doubted, err) &&
           find_pause(redis, name, past_out, err);
}

/* Two that do this at once write nearly the same: what is replaced is one that cannot be. */
bool redis_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                     struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    usec_t last, doubted;

    redis_begin(redis);
    if (!find_last(redis, name, now, &last, &doubted, err))
        return false;
    if (last != 0)
        return true;
    struct redis_command *command =
        redis_batch_plain(redis, &batch, doubted != 0 ? "HSET" : "HSETNX", MARKS, true);
    if (!command)
        return error_no_memory(err);
    redis_command_text(command, name);
    redis_command_int(command, slot);
    return redis_run(redis, &batch, err);
}

bool redis_cron_pause(struct store *store, const char *name, const char *by, usec_t mark,
                      usec_t now, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = start_on(redis, &batch, "HSETNX", PAUSES, name, true);
    char text[STORE_BY_SIZE + 32];

    (void)mark;
    if (!command)
        return error_no_memory(err);
    snprintf(text, sizeof text, "%" PRId64 " %s", now, by ? by : "");
    redis_command_text(command, text);
    redis_begin(redis);
    return redis_run(redis, &batch, err);
}

static bool put_mark(struct redis *redis, const char *name, usec_t mark, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = start_on(redis, &batch, "HSET", MARKS, name, true);

    if (!command)
        return error_no_memory(err);
    redis_command_int(command, mark);
    return redis_run(redis, &batch, err);
}

/* The mark first: whoever sees no pause sees where to go on. */
bool redis_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                       struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct cron_past past = {0};

    (void)now;
    redis_begin(redis);
    if (!find_pause(redis, name, &past, err))
        return false;
    if (past.paused_at == 0)
        return true;
    if (!put_mark(redis, name, mark, err))
        return false;
    if (!start_on(redis, &batch, "HDEL", PAUSES, name, true))
        return error_no_memory(err);
    return redis_run(redis, &batch, err);
}
