/*
 * job_json.c - a job as JSON.
 *
 * Invariant: every field is always there, under the same name and in the same place, except for
 * the names of a payload or result that is not JSON.
 */
#include "job/job_json.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "job/headers.h"
#include "job/why.h"

#include <string.h>

static void add_number(struct json_writer *json, const char *name, int64_t number, int64_t absent)
{
    if (number == absent)
        json_write_null(json, name);
    else
        json_write_int(json, name, number);
}

static void add_uuid(struct json_writer *json, const char *name, const struct uuid *uuid)
{
    char text[UUID_TEXT_SIZE];

    json_write_text(json, name, uuid_is_nil(uuid) ? NULL : uuid_format(uuid, text));
}

/* A result is whatever the handler wrote, and a stored payload may be damaged by now. */
static void add_json_or_base64(struct json_writer *json, const char *name, const char *base64_name,
                               struct bytes bytes)
{
    struct error ignored;

    if (!bytes.data)
        json_write_null(json, name);
    else if (json_check(bytes, &ignored))
        json_write_raw(json, name, bytes);
    else
        json_write_base64(json, base64_name, bytes);
}

static void add_payload(struct json_writer *json, const struct job *job)
{
    json_write_text(json, "encoding", job_encoding_name(job->encoding));
    if (job->encoding == JOB_RAW)
        json_write_base64(json, "payload_base64", job->payload);
    else
        add_json_or_base64(json, "payload", "payload_base64", job->payload);
}

static void add_headers(struct json_writer *json, const struct job *job)
{
    struct error ignored;

    if (!job->headers)
        json_write_null(json, "headers");
    else if (headers_check(job->headers, &ignored))
        json_write_raw(json, "headers",
                       (struct bytes){(const unsigned char *)job->headers, strlen(job->headers)});
    else
        json_write_text(json, "headers", job->headers);
}

static void add_tags(struct json_writer *json, const struct job *job)
{
    if (job->tags.count == 0) {
        json_write_null(json, "tags");
        return;
    }
    json_write_open(json, "tags", '[');
    for (size_t i = 0; i < job->tags.count; i++)
        json_write_text(json, NULL, job->tags.names[i]);
    json_write_close(json, ']');
}

/* Rounded up: a timeout under a millisecond is not "none". */
static int64_t whole_msec(usec_t timeout)
{
    return timeout / USEC_PER_MSEC + (timeout % USEC_PER_MSEC > 0);
}

static void add_request(struct json_writer *json, const struct job *job)
{
    json_write_int(json, "priority", job->priority);
    json_write_time(json, "run_at", job->run_at);
    add_number(json, "timeout_ms", whole_msec(job->timeout), 0);
    json_write_int(json, "attempts", job->attempts);
    add_number(json, "max_attempts", job->max_attempts, 0);
    json_write_int(json, "executions", job->executions);
    json_write_int(json, "stalls", job->stalls);
    add_number(json, "max_stalls", job->max_stalls, 0);
    json_write_text(json, "key", job->key);
    json_write_text(json, "idempotency_key", job->idempotency_key);
}

static void add_history(struct json_writer *json, const struct job *job)
{
    json_write_time(json, "created_at", job->created_at);
    json_write_time(json, "started_at", job->started_at);
    json_write_time(json, "ended_at", job->ended_at);
    json_write_time(json, "failed_at", job->failed_at);
    json_write_text(json, "last_error", job->last_error);
    json_write_text(json, "reason", job_reason_name(job->reason));
    add_number(json, "exit_code", job->exit_code, JOB_NO_EXIT_CODE);
    add_number(json, "signal", job->signal, 0);
    json_write_text(json, "pool", job->pool);
    add_number(json, "worker", job->worker, 0);
}

static void add_progress(struct json_writer *json, const struct job *job)
{
    if (job->progress_percent < 0 && !job->progress_text) {
        json_write_null(json, "progress");
        return;
    }
    json_write_open(json, "progress", '{');
    add_number(json, "percent", job->progress_percent, -1);
    json_write_text(json, "text", job->progress_text);
    json_write_close(json, '}');
}

static void add_run(struct json_writer *json, const struct job_run *run)
{
    json_write_open(json, NULL, '{');
    json_write_int(json, "execution", run->execution);
    json_write_text(json, "pool", run->pool);
    add_number(json, "worker", run->worker, 0);
    json_write_time(json, "started_at", run->started_at);
    json_write_int(json, "wall_ms", run->wall / USEC_PER_MSEC);
    json_write_int(json, "user_ms", run->user / USEC_PER_MSEC);
    json_write_int(json, "system_ms", run->system / USEC_PER_MSEC);
    json_write_int(json, "max_rss_kb", run->max_rss_kb);
    json_write_text(json, "outcome", run_outcome_name(run->outcome));
    add_number(json, "exit_code", run->exit_code, JOB_NO_EXIT_CODE);
    add_number(json, "signal", run->signal, 0);
    json_write_text(json, "error", run->error);
    json_write_close(json, '}');
}

static void add_runs(struct json_writer *json, const struct job *job)
{
    json_write_open(json, "runs", '[');
    for (size_t i = 0; i < job->run_count; i++)
        add_run(json, &job->runs[i]);
    json_write_close(json, ']');
}

static void add_identity(struct json_writer *json, const struct job *job)
{
    add_uuid(json, "id", &job->id);
    json_write_text(json, "type", job->type);
    json_write_text(json, "queue", job->queue);
    json_write_text(json, "state", job_state_name(job->state));
    why_json_add(json, "why", job->why);
}

static void add_end(struct json_writer *json, const struct job *job)
{
    json_write_time(json, "cancel_requested_at", job->cancel_requested_at);
    add_uuid(json, "merged_into", &job->merged_into);
}

void job_json_add_members(struct json_writer *json, const struct job *job)
{
    add_identity(json, job);
    add_payload(json, job);
    add_headers(json, job);
    add_tags(json, job);
    add_request(json, job);
    add_history(json, job);
    add_progress(json, job);
    add_json_or_base64(json, "result", "result_base64", job->result);
    add_end(json, job);
    json_write_lossy_text(json, "output", job->output);
    add_runs(json, job);
}

void job_json_add(struct buffer *buffer, const struct job *job)
{
    struct json_writer json = {.out = buffer};

    json_write_open(&json, NULL, '{');
    job_json_add_members(&json, job);
    json_write_close(&json, '}');
}

void job_json_add_brief(struct buffer *buffer, const struct job *job)
{
    struct json_writer json = {.out = buffer};

    json_write_open(&json, NULL, '{');
    add_identity(&json, job);
    json_write_text(&json, "encoding", job_encoding_name(job->encoding));
    add_tags(&json, job);
    add_request(&json, job);
    add_history(&json, job);
    add_progress(&json, job);
    add_end(&json, job);
    json_write_close(&json, '}');
}
