/*
 * settle.c - what became of a job, in words for a script.
 */
#include "store/redis/ops/settle.h"

#include "base/cleanup.h"
#include "job/idempotency.h"
#include "store/redis/codec/pack.h"
#include "store/redis/codec/record.h"
#include "store/redis/net/cluster.h"

#include <string.h>

#define WORD_MAX     ((size_t)1 << 30)
#define KEY_MAX      512
#define PLAIN_FORGET "F"

/* In the order that settlement_unpack() expects. */
#define SETTLEMENT_FIELDS 28
#define ON_DEAD_FIELDS    6

/* Whatever the execution does not tell has to be taken from the lease. */
static bool tells_all(const struct settlement *settlement)
{
    const struct job_run *run = &settlement->run;

    return settlement->has_run && run->pool != NULL && run->worker != 0 && run->started_at != 0;
}

static bool is_plain(const struct settlement *settlement)
{
    return settlement->kind == SETTLE_ACK && !settlement->counts && !settlement_tells(settlement) &&
           (settlement->forget || tells_all(settlement));
}

static void pack_optional(struct buffer *out, struct bytes bytes)
{
    if (bytes.data == NULL)
        redis_pack_nothing(out);
    else
        redis_pack_bytes(out, bytes.data, bytes.length);
}

static void pack_run(struct buffer *out, const struct settlement *settlement)
{
    const struct job_run *run = &settlement->run;

    redis_pack_int(out, settlement->has_run);
    redis_pack_int(out, run->worker);
    redis_pack_int(out, run->started_at);
    redis_pack_int(out, run->wall);
    redis_pack_int(out, run->user);
    redis_pack_int(out, run->system);
    redis_pack_int(out, run->max_rss_kb);
    redis_pack_int(out, run->exit_code);
    redis_pack_int(out, run->signal);
    redis_pack_text(out, run->error);
}

static void pack_progress(struct buffer *out, const struct settlement *settlement)
{
    if (settlement->has_progress)
        redis_pack_int(out, settlement->progress_percent);
    else
        redis_pack_nothing(out);
    redis_pack_text(out, settlement->has_progress ? settlement->progress_text : NULL);
}

/* In a cluster a script reaches only its own slot: see exchange.c. */
static bool is_within_reach(const struct redis *redis, const struct settlement *settlement)
{
    return redis->slot_nodes == NULL ||
           redis_cluster_slot(settlement->on_dead->queue) == redis_cluster_slot(settlement->queue);
}

static void pack_on_dead(const struct redis *redis, struct buffer *out,
                         const struct settlement *settlement, usec_t now)
{
    CLEANUP(buffer_done) struct buffer body = BUFFER(WORD_MAX);
    char key[KEY_MAX], id[UUID_TEXT_SIZE], how[REDIS_HOW_SIZE];

    if (settlement->on_dead == NULL || !is_within_reach(redis, settlement)) {
        for (int i = 0; i < ON_DEAD_FIELDS; i++)
            redis_pack_nothing(out);
        return;
    }
    struct job job = *settlement->on_dead;
    if (!idempotency_key_counts(job.idempotency_key))
        job.idempotency_key = NULL; /* as store_enqueue() does with what it is handed */
    bool outside = redis_record_is_outside(&job);
    snprintf(key, sizeof(key), "%s:{%s}:", redis->address.prefix, job.queue);
    redis_record_body(&body, &job, now);
    redis_pack_text(out, key);
    redis_pack_text(out, redis_record_how(&job, how));
    redis_pack_text(out, uuid_format(&job.id, id));
    redis_pack_bytes(out, body.data, body.length);
    redis_pack_bytes(out, job.payload.data, outside ? job.payload.length : 0);
    redis_pack_int(out, job.idempotency_key != NULL ? job.idempotency_expires : 0);
}

static void pack_all(const struct redis *redis, struct buffer *out,
                     const struct settlement *settlement, usec_t now)
{
    redis_pack_list(out, SETTLEMENT_FIELDS);
    redis_pack_int(out, settlement->kind);
    redis_pack_int(out, settlement->counts);
    redis_pack_int(out, settlement->forget);
    redis_pack_int(out, settlement->run_at);
    redis_pack_int(out, settlement->reason);
    redis_pack_text(out, settlement->error);
    pack_optional(out, settlement->result);
    pack_optional(out, settlement->output);
    pack_run(out, settlement);
    pack_on_dead(redis, out, settlement, now);
    redis_pack_int(out, settlement->aside);
    redis_pack_int(out, settlement->aside_since);
    pack_progress(out, settlement);
}

void redis_settle_words(const struct redis *redis, struct redis_command *command,
                        const struct settlement *settlement, usec_t now, struct buffer *scratch)
{
    char expected[1 + sizeof(settlement->token.bytes)];

    expected[0] = 'p';
    memcpy(expected + 1, settlement->token.bytes, sizeof(settlement->token.bytes));
    redis_command_uuid(command, &settlement->job);
    redis_command_bytes(command, expected, sizeof(expected));
    buffer_clear(scratch);
    if (!is_plain(settlement))
        pack_all(redis, scratch, settlement, now);
    else if (settlement->forget)
        buffer_text(scratch, PLAIN_FORGET);
    else
        redis_record_plain_end(scratch, settlement, now);
    redis_command_bytes(command, scratch->data, scratch->length);
    command->words.failed = command->words.failed || scratch->failed;
}
