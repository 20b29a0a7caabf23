/*
 * spec.c - jobs and settlements as JSON. What is absent is left out.
 */
#include "store/postgres/codec/spec.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "job/idempotency.h"
#include "store/postgres/codec/ref.h"

#include <string.h>

static void add_int(struct json_writer *json, const char *name, int64_t value)
{
    if (value != 0)
        json_write_int(json, name, value);
}

static void add_text(struct json_writer *json, const char *name, const char *text)
{
    if (text)
        json_write_text(json, name, text);
}

static void add_uuid(struct json_writer *json, const char *name, const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    json_write_text(json, name, uuid_format(id, text));
}

/* Bytes as the server reads them from text. */
static void add_bytes(struct json_writer *json, const char *name, struct bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    CLEANUP(buffer_done) struct buffer hex = BUFFER(PG_SPEC_MAX);

    if (!bytes.data)
        return;
    buffer_text(&hex, "\\x");
    for (size_t i = 0; i < bytes.length; i++) {
        buffer_char(&hex, digits[bytes.data[i] >> 4]);
        buffer_char(&hex, digits[bytes.data[i] & 15]);
    }
    json->out->failed = json->out->failed || hex.failed;
    json_write_text(json, name, buffer_str(&hex));
}

static void add_bytes_of_text(struct json_writer *json, const char *name, const char *text)
{
    if (text)
        add_bytes(json, name, (struct bytes){(const unsigned char *)text, strlen(text)});
}

bool pg_spec_is_plain_job(const struct job *job)
{
    return !job->key && job->tags.count == 0 && !idempotency_key_counts(job->idempotency_key);
}

static void add_tags(struct json_writer *json, struct tags tags)
{
    if (tags.count == 0)
        return;
    json_write_open(json, "tags", '[');
    for (size_t i = 0; i < tags.count; i++)
        json_write_text(json, NULL, tags.names[i]);
    json_write_close(json, ']');
}

void pg_spec_add_job(struct json_writer *json, const char *name, const struct job *job)
{
    static const unsigned char nothing[1];
    bool has_record = idempotency_key_counts(job->idempotency_key);

    json_write_open(json, name, '{');
    add_uuid(json, "id", &job->id);
    json_write_text(json, "queue", job->queue);
    json_write_text(json, "type", job->type);
    json_write_int(json, "encoding", job->encoding);
    json_write_int(json, "priority", job->priority);
    add_int(json, "run_at", job->run_at);
    add_int(json, "timeout", job->timeout);
    add_int(json, "max_attempts", job->max_attempts);
    add_int(json, "max_stalls", job->max_stalls);
    json_write_int(json, "attempts", job->attempts);
    json_write_int(json, "stalls", job->stalls);
    add_text(json, "key", job->key);
    json_write_int(json, "update_flags", job_flags_pack(job));
    add_text(json, "idempotency_key", has_record ? job->idempotency_key : NULL);
    add_int(json, "idempotency_expires", has_record ? job->idempotency_expires : 0);
    add_bytes(json, "payload", job->payload.data ? job->payload : (struct bytes){nothing, 0});
    add_bytes_of_text(json, "headers", job->headers);
    add_tags(json, job->tags);
    json_write_close(json, '}');
}

bool pg_spec_write_jobs(const struct job *jobs, size_t count, struct buffer *specs,
                        struct error *err)
{
    struct json_writer json = {.out = specs};

    json_write_open(&json, NULL, '[');
    for (size_t i = 0; i < count; i++)
        pg_spec_add_job(&json, NULL, &jobs[i]);
    json_write_close(&json, ']');
    return buffer_ok(specs, err);
}

static void add_run(struct json_writer *json, const struct job_run *run)
{
    add_int(json, "worker", run->worker);
    add_int(json, "started_at", run->started_at);
    json_write_int(json, "wall", run->wall);
    json_write_int(json, "user_time", run->user);
    json_write_int(json, "system_time", run->system);
    json_write_int(json, "max_rss_kb", run->max_rss_kb);
    if (run->exit_code != JOB_NO_EXIT_CODE)
        json_write_int(json, "exit_code", run->exit_code);
    add_int(json, "signal", run->signal);
    add_bytes_of_text(json, "run_error", run->error);
}

void pg_spec_add_settlement(struct json_writer *json, int n, const struct settlement *settlement)
{
    json_write_open(json, NULL, '{');
    json_write_int(json, "n", n);
    add_uuid(json, "job", &settlement->job);
    json_write_int(json, "ref", pg_ref_seq(settlement->ref));
    add_bytes(json, "token",
              (struct bytes){settlement->token.bytes, sizeof settlement->token.bytes});
    json_write_int(json, "kind", settlement->kind);
    json_write_bool(json, "counts", settlement->counts);
    json_write_bool(json, "forget", settlement->forget);
    add_int(json, "run_at", settlement->run_at);
    add_bytes_of_text(json, "error", settlement->error);
    add_int(json, "reason", settlement->reason);
    add_bytes(json, "result", settlement->result);
    add_bytes(json, "output", settlement->output);
    if (settlement->has_progress) {
        json_write_int(json, "progress_percent", settlement->progress_percent);
        add_bytes_of_text(json, "progress_text", settlement->progress_text);
    }
    json_write_bool(json, "has_run", settlement->has_run);
    if (settlement->has_run)
        add_run(json, &settlement->run);
    add_int(json, "aside", settlement->aside);
    add_int(json, "aside_since", settlement->aside_since);
    if (settlement->on_dead)
        pg_spec_add_job(json, "on_dead", settlement->on_dead);
    json_write_close(json, '}');
}
