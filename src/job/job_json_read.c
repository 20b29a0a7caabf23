/*
 * job_json_read.c - JSON as a job.
 *
 * Invariants:
 *   - Payload and headers are passed on as the producer wrote them, byte by byte.
 *   - A null member is an absent one.
 */
#include "base/arena.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/units.h"
#include "job/job_json.h"

#include <assert.h>
#include <limits.h>

/* A member on its way into the job. */
struct reading {
    struct json_member member;
    usec_t *delay_out;
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
    const char *text;

    if (!read_text(in, &text, err))
        return false;
    if (text[0] != '+')
        return timestamp_parse(text, moment, err) || error_prefix(err, "%s", in->member.name);
    *moment = 0;
    return units_parse_duration(text + 1, in->delay_out, err) ||
           error_prefix(err, "%s", in->member.name);
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

static void check_rivals(const struct json_members *members, const struct job_faults *faults)
{
    struct error err;

    for (size_t i = 0; i < COUNT_OF(rivals); i++) {
        if (!has_member(members, rivals[i][0]) || !has_member(members, rivals[i][1]))
            continue;
        error_set(&err, TH_E_INVALID, "%s and %s exclude each other: use one", rivals[i][0],
                  rivals[i][1]);
        faults->add(faults->context, rivals[i][1], err.text);
    }
}

static void read_members(const struct json_members *members, usec_t *delay_out, struct arena *arena,
                         struct job *job, const struct job_faults *faults)
{
    struct error err;

    for (size_t i = 0; i < members->count; i++) {
        const struct reading in = {members->items[i], delay_out, arena};

        if (!read_member(&in, job, &err))
            faults->add(faults->context, in.member.name, err.text);
    }
    check_rivals(members, faults);
    if (!job->type && !has_member(members, "type"))
        faults->add(faults->context, "type", "type is missing");
}

bool job_json_read(struct bytes text, struct arena *arena, struct job *job, usec_t *delay_out,
                   const struct job_faults *faults)
{
    struct json_members members;
    struct error err;

    *delay_out = -1;
    if (!json_split_object(text, arena, &members, &err)) {
        faults->add(faults->context, "", err.text);
        return false;
    }
    read_members(&members, delay_out, arena, job, faults);
    return true;
}

static void keep_first(void *context, const char *field, const char *message)
{
    struct error *err = context;

    (void)field;
    if (err->code == TH_OK)
        error_set(err, TH_E_INVALID, "%s", message);
}

bool job_json_parse(struct bytes text, usec_t now, struct arena *arena, struct job *job,
                    struct error *err)
{
    const struct job_faults faults = {keep_first, err};
    usec_t delay;

    *err = (struct error){.code = TH_OK};
    const bool is_object = job_json_read(text, arena, job, &delay, &faults);

    /* A string that could not be copied looks like one of the wrong type. */
    if (arena->failed)
        return error_no_memory(err);
    if (delay >= 0)
        job->run_at = now + delay;
    return is_object && err->code == TH_OK;
}
