/*
 * settle.c - what became of jobs, in words for a script.
 */
#include "store/redis/ops/settle.h"

#include "base/cleanup.h"
#include "job/idempotency.h"
#include "store/redis/codec/pack.h"
#include "store/redis/codec/record.h"
#include "store/redis/net/cluster.h"

#include <stdlib.h>

#define WORD_MAX ((size_t)1 << 30)
#define KEY_MAX  512

/* What they begin with: settle_all() reads them. */
#define SINGLE "S"
#define FORGET "F"
#define KEEP   "K"

/* In the order that settlement_unpack() expects. */
#define SETTLEMENT_FIELDS 28
#define ON_DEAD_FIELDS    6

/* Whatever the execution does not tell has to be taken from the lease. */
static bool tells_all(const struct settlement *settlement)
{
    const struct job_run *run = &settlement->run;

    return settlement->has_run && run->pool && run->worker != 0 && run->started_at != 0;
}

static bool is_plain(const struct settlement *settlement)
{
    return settlement->kind == SETTLE_ACK && !settlement->counts && !settlement_tells(settlement) &&
           (settlement->forget || tells_all(settlement));
}

static void pack_optional(struct buffer *out, struct bytes bytes)
{
    if (!bytes.data)
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
    return !redis->slot_nodes ||
           redis_cluster_slot(settlement->on_dead->queue) == redis_cluster_slot(settlement->queue);
}

static void pack_on_dead(const struct redis *redis, struct buffer *out,
                         const struct settlement *settlement, usec_t now)
{
    CLEANUP(buffer_done) struct buffer body = BUFFER(WORD_MAX);
    char key[KEY_MAX], id[UUID_TEXT_SIZE], how[REDIS_HOW_SIZE];

    if (!settlement->on_dead || !is_within_reach(redis, settlement)) {
        for (int i = 0; i < ON_DEAD_FIELDS; i++)
            redis_pack_nothing(out);
        return;
    }
    struct job job = *settlement->on_dead;
    if (!idempotency_key_counts(job.idempotency_key))
        job.idempotency_key = NULL; /* as store_enqueue() does with what it is handed */
    bool outside = redis_record_is_outside(&job);
    snprintf(key, sizeof key, "%s:{%s}:", redis->address.prefix, job.queue);
    redis_record_body(&body, &job, now);
    redis_pack_text(out, key);
    redis_pack_text(out, redis_record_how(&job, how));
    redis_pack_text(out, uuid_format(&job.id, id));
    redis_pack_bytes(out, body.data, body.length);
    redis_pack_bytes(out, job.payload.data, outside ? job.payload.length : 0);
    redis_pack_int(out, job.idempotency_key ? job.idempotency_expires : 0);
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

static void add_scratch(struct redis_command *command, const struct buffer *scratch)
{
    redis_command_bytes(command, scratch->data, scratch->length);
    command->words.failed = command->words.failed || scratch->failed;
}

static void add_single(const struct redis *redis, struct redis_command *command,
                       const struct settlement *settlement, usec_t now, struct buffer *scratch)
{
    redis_command_text(command, SINGLE);
    redis_command_uuid(command, &settlement->job);
    redis_command_bytes(command, settlement->token.bytes, sizeof settlement->token.bytes);
    buffer_clear(scratch);
    pack_all(redis, scratch, settlement, now);
    add_scratch(command, scratch);
}

/* ---- plain acks of one batch, together ---- */

/* Where a settlement stands in its batch. */
struct indexed {
    uint32_t index;
    size_t number;
};

static int by_index(const void *a, const void *b)
{
    const struct indexed *first = a, *second = b;

    if (first->index != second->index)
        return first->index < second->index ? -1 : 1;
    return first->number < second->number ? -1 : 1;
}

static bool is_alike(const struct settlement *a, const struct settlement *b)
{
    return is_plain(b) && a->forget == b->forget &&
           lease_token_compare_batches(&a->token, &b->token) == 0;
}

/* How many of one batch follow each other; 0 when the first is no plain ack. */
static size_t count_alike(const struct settlement *settlements, const size_t *numbers, size_t count)
{
    const struct settlement *first = &settlements[numbers[0]];
    size_t alike = is_plain(first);

    while (alike > 0 && alike < count && is_alike(first, &settlements[numbers[alike]]))
        alike++;
    return alike;
}

/* Workers do not finish jobs quite in the order in which they were reserved. Without memory for it
 * there are more runs, that is all. */
static void sort_by_index(const struct settlement *settlements, size_t *numbers, size_t count)
{
    AUTO_FREE struct indexed *sorted = calloc(count, sizeof *sorted);

    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = (struct indexed){lease_token_index(&settlements[numbers[i]].token), numbers[i]};
    if (!sorted)
        return;
    qsort(sorted, count, sizeof *sorted, by_index);
    for (size_t i = 0; i < count; i++)
        numbers[i] = sorted[i].number;
}

static size_t run_length(const struct settlement *settlements, const size_t *numbers, size_t count)
{
    const uint32_t first = lease_token_index(&settlements[numbers[0]].token);
    size_t length = 1;

    while (length < count &&
           lease_token_index(&settlements[numbers[length]].token) == first + length)
        length++;
    return length;
}

static void add_run(struct redis_command *command, const struct settlement *settlements,
                    const size_t *numbers, size_t count, usec_t now, struct buffer *scratch)
{
    const struct settlement *first = &settlements[numbers[0]];

    redis_command_text(command, first->forget ? FORGET : KEEP);
    redis_command_int(command, (int64_t)count);
    redis_command_bytes(command, first->token.bytes, sizeof(struct batch_token));
    redis_command_int(command, lease_token_index(&first->token));
    for (size_t i = 0; i < count; i++)
        redis_command_uuid(command, &settlements[numbers[i]].job);
    for (size_t i = 0; !first->forget && i < count; i++) {
        buffer_clear(scratch);
        redis_record_plain_end(scratch, &settlements[numbers[i]], now);
        add_scratch(command, scratch);
    }
}

static void add_alike(struct redis_command *command, const struct settlement *settlements,
                      size_t *numbers, size_t count, usec_t now, struct buffer *scratch)
{
    sort_by_index(settlements, numbers, count);
    for (size_t i = 0, length; i < count; i += length) {
        length = run_length(settlements, numbers + i, count - i);
        add_run(command, settlements, numbers + i, length, now, scratch);
    }
}

void redis_settle_words(const struct redis *redis, struct redis_command *command,
                        const struct settlement *settlements, size_t *numbers, size_t count,
                        usec_t now)
{
    CLEANUP(buffer_done) struct buffer scratch = BUFFER(WORD_MAX);

    for (size_t i = 0, alike; i<count; i += alike> 0 ? alike : 1) {
        alike = count_alike(settlements, numbers + i, count - i);
        if (alike > 0)
            add_alike(command, settlements, numbers + i, alike, now, &scratch);
        else
            add_single(redis, command, &settlements[numbers[i]], now, &scratch);
    }
}
