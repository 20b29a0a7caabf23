/*
 * job_pack.c - a job in a pack: what a producer says of it, or all that a worker gets.
 */
#include "door/job_pack.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "door/pack.h"
#include "job/headers.h"
#include "job/job.h"

#include <limits.h>
#include <string.h>

/* A pack holds no text that is longer: what is too long for a store is for the store to say. */
#define TEXT_MAX PACK_MAX

/* ---- what a producer says ---- */

static void pack_tags(struct buffer *pack, struct tags tags)
{
    pack_count(pack, tags.count);
    for (size_t i = 0; i < tags.count; i++)
        pack_text(pack, tags.names[i]);
}

static struct tags unpack_tags(struct unpack *unpack, struct arena *arena)
{
    const size_t count = unpack_count(unpack, sizeof(uint64_t), TAGS_MAX);
    const char **names = arena_alloc(arena, TAGS_MAX * sizeof *names);

    for (size_t i = 0; names && i < count; i++)
        names[i] = unpack_word(unpack, JOB_NAME_MAX);
    return (struct tags){names, names ? count : 0};
}

static void pack_flags(struct buffer *pack, struct keyed_flags update)
{
    pack_number(pack, keyed_flags_pack(update));
}

void job_pack_request(struct buffer *pack, const struct job *job)
{
    pack_uuid(pack, &job->id);
    pack_flag(pack, job->id_is_given);
    pack_text(pack, job->type);
    pack_text(pack, job->queue);
    pack_number(pack, job->encoding);
    pack_bytes(pack, job->payload);
    pack_text(pack, job->headers);
    pack_tags(pack, job->tags);
    pack_number(pack, job->priority);
    pack_number(pack, job->run_at);
    pack_number(pack, job->timeout);
    pack_number(pack, job->max_attempts);
    pack_number(pack, job->max_stalls);
    pack_text(pack, job->key);
    pack_flags(pack, job->update);
    pack_text(pack, job->idempotency_key);
}

void job_unpack_request(struct unpack *unpack, struct arena *arena, struct job *job_out)
{
    struct job *job = job_out;

    *job = job_defaults();
    job->id = unpack_uuid(unpack);
    job->id_is_given = unpack_flag(unpack);
    job->type = unpack_word(unpack, JOB_NAME_MAX);
    job->queue = unpack_word(unpack, JOB_NAME_MAX);
    job->encoding = (enum job_encoding)unpack_number(unpack, JOB_JSON, JOB_RAW);
    job->payload = unpack_bytes(unpack, JOB_PAYLOAD_MAX);
    job->headers = unpack_text(unpack, TEXT_MAX);
    job->tags = unpack_tags(unpack, arena);
    job->priority = (int)unpack_number(unpack, INT_MIN, INT_MAX);
    job->run_at = unpack_number(unpack, 0, TIMESTAMP_MAX);
    job->timeout = unpack_number(unpack, 0, INT64_MAX);
    job->max_attempts = (int)unpack_number(unpack, 0, INT_MAX);
    job->max_stalls = (int)unpack_number(unpack, 0, INT_MAX);
    job->key = unpack_text(unpack, TEXT_MAX);
    job->update = keyed_flags_unpack((int)unpack_number(unpack, 0, KEYED_FLAGS));
    job->idempotency_key = unpack_text(unpack, TEXT_MAX);
}

/* ---- what a worker gets ---- */

void job_pack_token(struct buffer *pack, const struct lease_token *token)
{
    pack_bytes(pack, (struct bytes){token->bytes, sizeof token->bytes});
}

struct lease_token job_unpack_token(struct unpack *unpack)
{
    struct lease_token token = {0};
    const struct bytes bytes = unpack_bytes(unpack, sizeof token.bytes);

    if (bytes.length == sizeof token.bytes)
        memcpy(token.bytes, bytes.data, sizeof token.bytes);
    else
        unpack->failed = true;
    return token;
}

static void pack_past(struct buffer *pack, const struct job *job)
{
    pack_number(pack, job->attempts);
    pack_number(pack, job->stalls);
    pack_number(pack, job->executions);
    pack_number(pack, job->created_at);
    pack_number(pack, job->started_at);
    pack_number(pack, job->failed_at);
    pack_text(pack, job->last_error);
    pack_number(pack, job->exit_code);
    pack_number(pack, job->signal);
    pack_number(pack, job->cancel_requested_at);
    pack_number(pack, job->progress_percent);
    pack_text(pack, job->progress_text);
}

static void unpack_past(struct unpack *unpack, struct job *job)
{
    job->attempts = (int)unpack_number(unpack, 0, INT_MAX);
    job->stalls = (int)unpack_number(unpack, 0, INT_MAX);
    job->executions = unpack_number(unpack, 0, INT64_MAX);
    job->created_at = unpack_number(unpack, INT64_MIN, INT64_MAX);
    job->started_at = unpack_number(unpack, INT64_MIN, INT64_MAX);
    job->failed_at = unpack_number(unpack, INT64_MIN, INT64_MAX);
    job->last_error = unpack_text(unpack, TEXT_MAX);
    job->exit_code = (int)unpack_number(unpack, INT_MIN, INT_MAX);
    job->signal = (int)unpack_number(unpack, INT_MIN, INT_MAX);
    job->cancel_requested_at = unpack_number(unpack, INT64_MIN, INT64_MAX);
    job->progress_percent = (int)unpack_number(unpack, INT_MIN, INT_MAX);
    job->progress_text = unpack_text(unpack, TEXT_MAX);
}

void job_pack_record(struct buffer *pack, const struct job *job)
{
    job_pack_request(pack, job);
    pack_number(pack, job->state);
    pack_number(pack, job->due);
    pack_past(pack, job);
    job_pack_token(pack, &job->token);
    pack_number(pack, job->expires_at);
    pack_text(pack, job->pool);
    pack_number(pack, job->worker);
    pack_number(pack, job->ref);
}

void job_unpack_record(struct unpack *unpack, struct arena *arena, struct job *job_out)
{
    job_unpack_request(unpack, arena, job_out);
    job_out->state = (enum job_state)unpack_number(unpack, 0, JOB_STATES - 1);
    job_out->due = unpack_number(unpack, INT64_MIN, INT64_MAX);
    unpack_past(unpack, job_out);
    job_out->token = job_unpack_token(unpack);
    job_out->expires_at = unpack_number(unpack, INT64_MIN, INT64_MAX);
    job_out->pool = unpack_text(unpack, TEXT_MAX);
    job_out->worker = (int)unpack_number(unpack, INT_MIN, INT_MAX);
    job_out->ref = unpack_number(unpack, INT64_MIN, INT64_MAX);
}
