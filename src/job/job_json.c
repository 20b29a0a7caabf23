/*
 * job_json.c - a job as JSON, both ways.
 *
 * Invariants:
 *   - Out: every field is always there, under the same name and in the same place, except for
 *     the names of a payload or result that is not JSON.
 *   - In: payload and headers are passed on as the producer wrote them, byte by byte.
 *   - A null member is an absent one.
 */
#include "job/job_json.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/units.h"
#include "job/headers.h"
#include "job/why.h"

#include <assert.h>
#include <limits.h>
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

/* A member on its way into the job. */
struct reading {
    struct json_member member;
    usec_t now;
    struct arena *arena;
};

static bool must_be(const struct reading *in, const char *what, struct error *err)
{
    return error_set(err, TH_E_INVALID, "%s must be %s", in->member.name, what);
}

static bool read_text(const struct reading *in, void *target, struct error *err)
{
    const char **text = target;

    if (!json_to_text(in->member.value, in->arena, text))
        return must_be(in, "a string without \\u0000", err);
    return true;
}

static bool read_int(const struct reading *in, void *target, struct error *err)
{
    int *number = target;
    int64_t wide;

    if (!json_to_int(in->member.value, &wide) || wide < INT_MIN || wide > INT_MAX)
        return must_be(in, "a whole number of 32 bits", err);
    *number = (int)wide;
    return true;
}

static bool read_bool(const struct reading *in, void *target, struct error *err)
{
    bool *flag = target;

    if (!json_to_bool(in->member.value, flag))
        return must_be(in, "true or false", err);
    return true;
}

static bool read_id(const struct reading *in, void *target, struct error *err)
{
    struct uuid *id = target;
    const char *text;

    if (!read_text(in, &text, err))
        return false;
    if (!uuid_parse(text, id) || uuid_is_nil(id))
        return must_be(in, "a UUID other than nil", err);
    return true;
}

static bool read_payload(const struct reading *in, void *target, struct error *err)
{
    struct job *job = target;

    (void)err;
    job->encoding = JOB_JSON;
    job->payload = in->member.value;
    return true;
}

static bool read_payload_base64(const struct reading *in, void *target, struct error *err)
{
    struct job *job = target;
    const char *text;

    if (!read_text(in, &text, err))
        return false;
    if (!base64_parse(text, in->arena, &job->payload))
        return must_be(in, "base64 with its padding", err);
    job->encoding = JOB_RAW;
    return true;
}

static bool read_headers(const struct reading *in, void *target, struct error *err)
{
    const char **headers = target;

    if (in->member.value.data[0] != '{')
        return must_be(in, "an object", err);
    *headers =
        arena_text_of(in->arena, (const char *)in->member.value.data, in->member.value.length);
    return true;
}

static bool read_tags(const struct reading *in, void *target, struct error *err)
{
    struct tags *tags = target;
    struct json_values values;

    if (!json_split_array(in->member.value, in->arena, &values, err))
        return must_be(in, "an array of strings", err);
    const char **names = arena_alloc(in->arena, values.count * sizeof *names);
    for (size_t i = 0; names && i < values.count; i++)
        if (!json_to_text(values.items[i], in->arena, &names[i]))
            return must_be(in, "an array of strings", err);
    *tags = (struct tags){names, names ? values.count : 0};
    return true;
}

static bool read_moment(const struct reading *in, void *target, struct error *err)
{
    usec_t *moment = target;
    usec_t delay;
    const char *text;

    if (!read_text(in, &text, err))
        return false;
    if (text[0] != '+')
        return timestamp_parse(text, moment, err) || error_prefix(err, "%s", in->member.name);
    if (!units_parse_duration(text + 1, &delay, err))
        return error_prefix(err, "%s", in->member.name);
    *moment = in->now + delay;
    return true;
}

static bool read_duration(const struct reading *in, void *target, struct error *err)
{
    usec_t *duration = target;
    const char *text;

    if (!read_text(in, &text, err))
        return false;
    return units_parse_duration(text, duration, err) || error_prefix(err, "%s", in->member.name);
}

static bool read_timeout_ms(const struct reading *in, void *target, struct error *err)
{
    usec_t *timeout = target;
    int64_t msec;

    static_assert(JOB_TIMEOUT_MAX / USEC_PER_MSEC == 31536000000, "the text tells the limit");
    if (!json_to_int(in->member.value, &msec) || msec < 0 || msec > JOB_TIMEOUT_MAX / USEC_PER_MSEC)
        return must_be(in, "a whole number from 0 to 31536000000", err);
    *timeout = msec * USEC_PER_MSEC;
    return true;
}

static bool read_update_run_at(const struct reading *in, void *target, struct error *err)
{
    enum update_run_at *when = target;
    const char *text;

    if (!read_text(in, &text, err))
        return false;
    if (!update_run_at_parse(text, when))
        return must_be(in, "always, never, if_earlier or if_later", err);
    return true;
}

/* `offset` is of what `read` fills in: a member of struct job of its type, or the job itself. */
/* clang-format off */
static const struct field {
    const char *name;
    bool (*read)(const struct reading *in, void *target, struct error *err);
    size_t offset;
} fields[] = {
    {"id",              read_id,             offsetof(struct job, id)},
    {"type",            read_text,           offsetof(struct job, type)},
    {"queue",           read_text,           offsetof(struct job, queue)},
    {"payload",         read_payload,        0},
    {"payload_base64",  read_payload_base64, 0},
    {"headers",         read_headers,        offsetof(struct job, headers)},
    {"tags",            read_tags,           offsetof(struct job, tags)},
    {"priority",        read_int,            offsetof(struct job, priority)},
    {"run_at",          read_moment,         offsetof(struct job, run_at)},
    {"timeout",         read_duration,       offsetof(struct job, timeout)},
    {"timeout_ms",      read_timeout_ms,     offsetof(struct job, timeout)},
    {"max_attempts",    read_int,            offsetof(struct job, max_attempts)},
    {"max_stalls",      read_int,            offsetof(struct job, max_stalls)},
    {"key",             read_text,           offsetof(struct job, key)},
    {"idempotency_key", read_text,           offsetof(struct job, idempotency_key)},
    {"update_payload",  read_bool,           offsetof(struct job, update.payload)},
    {"update_run_at",   read_update_run_at,  offsetof(struct job, update.run_at)},
    {"update_retry",    read_bool,           offsetof(struct job, update.retry)},
    {"reset_counts",    read_bool,           offsetof(struct job, update.reset_counts)},
};
/* clang-format on */

/* Two ways to say one thing. */
static const char *const rivals[][2] = {
    {"payload", "payload_base64"},
    {"timeout", "timeout_ms"},
};

static bool refuse_unknown(const char *name, struct error *err)
{
    const char *names[COUNT_OF(fields)];
    char shown[EXCERPT_SIZE];

    for (size_t i = 0; i < COUNT_OF(fields); i++)
        names[i] = fields[i].name;
    const char *closest = text_closest(name, names, COUNT_OF(names));

    if (!closest)
        return error_set(err, TH_E_INVALID, "unknown field '%s'", excerpt_of(name, shown));
    return error_set(err, TH_E_INVALID, "unknown field '%s' (did you mean '%s'?)",
                     excerpt_of(name, shown), closest);
}

static bool read_member(const struct reading *in, struct job *job, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (!text_equal(in->member.name, fields[i].name))
            continue;
        return json_means_null(in->member.value) ||
               fields[i].read(in, (char *)job + fields[i].offset, err);
    }
    return refuse_unknown(in->member.name, err);
}

static bool has_member(const struct json_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++) {
        if (text_equal(members->items[i].name, name))
            return !json_means_null(members->items[i].value);
    }
    return false;
}

static bool check_rivals(const struct json_members *members, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(rivals); i++) {
        if (has_member(members, rivals[i][0]) && has_member(members, rivals[i][1]))
            return error_set(err, TH_E_INVALID, "%s and %s exclude each other: use one",
                             rivals[i][0], rivals[i][1]);
    }
    return true;
}

static bool read_members(const struct json_members *members, usec_t now, struct arena *arena,
                         struct job *job, struct error *err)
{
    for (size_t i = 0; i < members->count; i++) {
        struct reading in = {.member = members->items[i], .now = now, .arena = arena};
        if (!read_member(&in, job, err))
            return false;
    }
    return check_rivals(members, err);
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

void job_json_add(struct buffer *buffer, const struct job *job)
{
    struct json_writer json = {.out = buffer};

    json_write_open(&json, NULL, '{');
    add_identity(&json, job);
    add_payload(&json, job);
    add_headers(&json, job);
    add_tags(&json, job);
    add_request(&json, job);
    add_history(&json, job);
    add_progress(&json, job);
    add_json_or_base64(&json, "result", "result_base64", job->result);
    add_end(&json, job);
    json_write_lossy_text(&json, "output", job->output);
    add_runs(&json, job);
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

bool job_json_parse(struct bytes text, usec_t now, struct arena *arena, struct job *job,
                    struct error *err)
{
    struct json_members members;
    bool ok = json_split_object(text, arena, &members, err) &&
              read_members(&members, now, arena, job, err);

    /* A string that could not be copied looks like one of the wrong type. */
    if (arena->failed)
        return error_no_memory(err);
    if (ok && !job->type)
        return error_set(err, TH_E_INVALID, "type is missing");
    return ok;
}
