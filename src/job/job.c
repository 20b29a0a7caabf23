/*
 * job.c - a job: its fields, defaults and limits.
 *
 * job_validate() is the door: what it lets through, every store can keep and give back unchanged.
 * A check is one line in it, refuses with one sentence, and the sentence says what is allowed.
 */
#include "job/job.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "job/headers.h"
#include "job/idempotency.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define KEY_ALLOWED "use 1 to 256 bytes of UTF-8, or leave it out"

#define DEPTH_SHIFT 5 /* above the flags of a key; it lies in databases, and so keeps its place */

static_assert(JOB_NAME_MAX == 128, "JOB_NAME_ALLOWED tells the limit");
static_assert(JOB_KEY_MAX == 256, "KEY_ALLOWED tells the limit");

const struct job_limits job_limits_default = {
    .timeout = 5 * USEC_PER_MIN,
    .max_attempts = 4,
    .max_stalls = 3,
};

static bool check_id(const struct uuid *id, struct error *err)
{
    if (uuid_is_nil(id))
        return error_set(err, TH_E_INVALID, "id is missing: use a UUID other than nil");
    return true;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '-';
}

/* Up to the first character that a name cannot have. Not strspn(), which builds a table of the
 * characters at each call: names are checked several times on the hot path. */
static size_t name_span(const char *name)
{
    size_t length = 0;

    while (is_name_character(name[length]))
        length++;
    return length;
}

static bool check_name(const char *field, const char *name, struct error *err)
{
    char shown[EXCERPT_SIZE];

    if (text_is_blank(name))
        return error_set(err, TH_E_INVALID, "%s is blank: " JOB_NAME_ALLOWED, field);
    if (name[name_span(name)] != '\0')
        return error_set(err, TH_E_INVALID,
                         "%s '%s' has a character that is not allowed: " JOB_NAME_ALLOWED, field,
                         excerpt_of(name, shown));
    if (strlen(name) > JOB_NAME_MAX)
        return error_set(err, TH_E_INVALID, "%s '%s' is %zu characters long: " JOB_NAME_ALLOWED,
                         field, excerpt_of(name, shown), strlen(name));
    return true;
}

static bool check_payload(struct bytes payload, size_t max_payload, struct error *err)
{
    if (payload.length > max_payload)
        return error_set(err, TH_E_INVALID, "payload is %zu bytes long: use at most %zu",
                         payload.length, max_payload);
    return true;
}

/* The last check, because it costs most. */
static bool check_json(const struct job *job, struct error *err)
{
    struct error reason;

    if (job->encoding != JOB_JSON || json_check(job->payload, &reason))
        return true;
    return error_set(err, TH_E_INVALID, "payload is not JSON: %s (use raw for other bytes)",
                     reason.text);
}

static bool check_range(const char *field, int64_t value, int64_t max, const char *allowed,
                        struct error *err)
{
    if (value < 0 || value > max)
        return error_set(err, TH_E_INVALID, "%s is out of range: use %s", field, allowed);
    return true;
}

/* Nobody means a time that long ago, but many give milliseconds. */
static bool check_run_at(usec_t run_at, struct error *err)
{
    if (run_at > 0 && run_at < TIMESTAMP_2000)
        return error_set(err, TH_E_INVALID,
                         "run_at is before the year 2000 (as a number it is microseconds since "
                         "1970)");
    return check_range("run_at", run_at, TIMESTAMP_MAX, "the years 2000 to 9999", err);
}

static bool check_count(const char *field, int count, struct error *err)
{
    static_assert(JOB_COUNT_MAX == 1000000, "the text tells the limit");
    return check_range(field, count, JOB_COUNT_MAX, "0 to 1000000", err);
}

static bool check_count_within(const char *field, int count, int max, struct error *err)
{
    if (max > 0 && count > max)
        return error_set(err, TH_E_INVALID, "%s %d is over max_%s %d: use at most as many", field,
                         count, field, max);
    return true;
}

static bool check_key(const char *field, const char *key, struct error *err)
{
    if (!key)
        return true;
    struct bytes bytes = {(const unsigned char *)key, strlen(key)};

    if (text_is_blank(key))
        return error_set(err, TH_E_INVALID, "%s is blank: " KEY_ALLOWED, field);
    if (bytes.length > JOB_KEY_MAX)
        return error_set(err, TH_E_INVALID, "%s is %zu bytes long: " KEY_ALLOWED, field,
                         bytes.length);
    if (!text_is_utf8(bytes))
        return error_set(err, TH_E_INVALID, "%s is not valid UTF-8: " KEY_ALLOWED, field);
    return true;
}

static bool check_idempotency_expires(const struct job *job, struct error *err)
{
    if (!job->idempotency_key)
        return true;
    if (job->idempotency_expires == 0)
        return error_set(err, TH_E_INVALID,
                         "idempotency_expires is missing: idempotency_key needs it");
    return check_range("idempotency_expires", job->idempotency_expires, TIMESTAMP_MAX,
                       "the years 1970 to 9999", err);
}

static bool check_tags(struct tags tags, struct error *err)
{
    if (tags.count > TAGS_MAX)
        return error_set(err, TH_E_INVALID, "tags are %zu: use at most %d", tags.count, TAGS_MAX);
    for (size_t i = 0; i < tags.count; i++) {
        if (!check_name("tag", tags.names[i], err))
            return false;
        if (tags_have((struct tags){tags.names, i}, tags.names[i]))
            return error_set(err, TH_E_INVALID, "tag '%s' stands there twice: use it once",
                             tags.names[i]);
    }
    return true;
}

/* In the order in which they are made. */
enum check {
    CHECK_ID,
    CHECK_TYPE,
    CHECK_QUEUE,
    CHECK_PAYLOAD,
    CHECK_PRIORITY,
    CHECK_RUN_AT,
    CHECK_TIMEOUT,
    CHECK_MAX_ATTEMPTS,
    CHECK_MAX_STALLS,
    CHECK_ATTEMPTS,
    CHECK_STALLS,
    CHECK_ATTEMPTS_WITHIN,
    CHECK_STALLS_WITHIN,
    CHECK_KEY,
    CHECK_IDEMPOTENCY_KEY,
    CHECK_IDEMPOTENCY_EXPIRES,
    CHECK_ON_DEAD_DEPTH,
    CHECK_HEADERS,
    CHECK_TAGS,
    CHECK_JSON,
    CHECKS,
};

static const char *const check_fields[] = {
    [CHECK_ID] = "id",
    [CHECK_TYPE] = "type",
    [CHECK_QUEUE] = "queue",
    [CHECK_PAYLOAD] = "payload",
    [CHECK_PRIORITY] = "priority",
    [CHECK_RUN_AT] = "run_at",
    [CHECK_TIMEOUT] = "timeout",
    [CHECK_MAX_ATTEMPTS] = "max_attempts",
    [CHECK_MAX_STALLS] = "max_stalls",
    [CHECK_ATTEMPTS] = "attempts",
    [CHECK_STALLS] = "stalls",
    [CHECK_ATTEMPTS_WITHIN] = "attempts",
    [CHECK_STALLS_WITHIN] = "stalls",
    [CHECK_KEY] = "key",
    [CHECK_IDEMPOTENCY_KEY] = "idempotency_key",
    [CHECK_IDEMPOTENCY_EXPIRES] = "idempotency_key",
    [CHECK_ON_DEAD_DEPTH] = "on_dead_depth",
    [CHECK_HEADERS] = "headers",
    [CHECK_TAGS] = "tags",
    [CHECK_JSON] = "payload",
};

/* clang-format off */
static bool carry_out(enum check check, const struct job *job, size_t max_payload,
                      struct error *err)
{
    switch (check) {
    case CHECK_ID:                  return check_id(&job->id, err);
    case CHECK_TYPE:                return check_name("type", job->type, err);
    case CHECK_QUEUE:               return check_name("queue", job->queue, err);
    case CHECK_PAYLOAD:             return check_payload(job->payload, max_payload, err);
    case CHECK_PRIORITY:            return check_range("priority", job->priority, JOB_PRIORITY_MAX, "0 to 9", err);
    case CHECK_RUN_AT:              return check_run_at(job->run_at, err);
    case CHECK_TIMEOUT:             return check_range("timeout", job->timeout, JOB_TIMEOUT_MAX, "0 to 365d", err);
    case CHECK_MAX_ATTEMPTS:        return check_count("max_attempts", job->max_attempts, err);
    case CHECK_MAX_STALLS:          return check_count("max_stalls", job->max_stalls, err);
    case CHECK_ATTEMPTS:            return check_count("attempts", job->attempts, err);
    case CHECK_STALLS:              return check_count("stalls", job->stalls, err);
    case CHECK_ATTEMPTS_WITHIN:     return check_count_within("attempts", job->attempts, job->max_attempts, err);
    case CHECK_STALLS_WITHIN:       return check_count_within("stalls", job->stalls, job->max_stalls, err);
    case CHECK_KEY:                 return check_key("key", job->key, err);
    case CHECK_IDEMPOTENCY_KEY:     return check_key("idempotency_key", job->idempotency_key, err);
    case CHECK_IDEMPOTENCY_EXPIRES: return check_idempotency_expires(job, err);
    case CHECK_ON_DEAD_DEPTH:       return check_range("on_dead_depth", job->on_dead_depth, JOB_ON_DEAD_MAX, "0 to 8", err);
    case CHECK_HEADERS:             return headers_check(job->headers, err);
    case CHECK_TAGS:                return check_tags(job->tags, err);
    case CHECK_JSON:                return check_json(job, err);
    case CHECKS:                    break;
    }
    return true;
}
/* clang-format on */

/* The first that is set. */
static int64_t first_set(int64_t own, int64_t handler, int64_t fallback)
{
    if (own > 0)
        return own;
    return handler > 0 ? handler : fallback;
}

struct job *job_list_add(struct job_list *list)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : 2 * list->capacity;
        struct job *items = reallocarray(list->items, capacity, sizeof *items);
        if (!items)
            return NULL;
        list->items = items;
        list->capacity = capacity;
    }
    struct job *job = &list->items[list->count++];

    *job = (struct job){.progress_percent = -1, .exit_code = JOB_NO_EXIT_CODE};
    return job;
}

void job_list_done(struct job_list *list)
{
    arena_done(&list->arena);
    free(list->items);
    *list = (struct job_list){0};
}

struct job job_defaults(void)
{
    return (struct job){
        .queue = JOB_QUEUE_DEFAULT,
        .encoding = JOB_JSON,
        .payload = {(const unsigned char *)"null", 4},
        .priority = JOB_PRIORITY_DEFAULT,
        .update = keyed_flags_default,
        .progress_percent = -1,
        .exit_code = JOB_NO_EXIT_CODE,
    };
}

bool job_name_is_valid(const char *name)
{
    size_t length = name ? name_span(name) : 0;

    return length >= 1 && length <= JOB_NAME_MAX && name[length] == '\0';
}

bool job_name_check(const char *name, size_t max, struct error *err)
{
    char shown[EXCERPT_SIZE];

    if (job_name_is_valid(name) && strlen(name) <= max)
        return true;
    return error_set(err, TH_E_INVALID, "'%s' is not a name: use 1 to %zu of " JOB_NAME_CHARACTERS,
                     excerpt_of(name ? name : "", shown), max);
}

bool job_validate(struct job *job, size_t max_payload, struct error *err)
{
    if (!idempotency_key_counts(job->idempotency_key))
        job->idempotency_key = NULL;
    for (enum check check = 0; check < CHECKS; check++) {
        if (!carry_out(check, job, max_payload, err))
            return false;
    }
    return true;
}

void job_find_faults(struct job *job, size_t max_payload, const struct job_faults *faults)
{
    struct error err;

    if (!idempotency_key_counts(job->idempotency_key))
        job->idempotency_key = NULL;
    for (enum check check = 0; check < CHECKS; check++) {
        if (!carry_out(check, job, max_payload, &err))
            faults->add(faults->context, check_fields[check], err.text);
    }
}

struct job_limits job_limits_resolve(const struct job *job, const struct job_limits *handler,
                                     const struct job_limits *defaults)
{
    if (!handler)
        handler = defaults;
    return (struct job_limits){
        .timeout = first_set(job->timeout, handler->timeout, defaults->timeout),
        .max_attempts =
            (int)first_set(job->max_attempts, handler->max_attempts, defaults->max_attempts),
        .max_stalls = (int)first_set(job->max_stalls, handler->max_stalls, defaults->max_stalls),
    };
}

int job_flags_pack(const struct job *job)
{
    static_assert(JOB_ON_DEAD_MAX == 8, "job_validate() tells the limit");
    return (job->key ? keyed_flags_pack(job->update) : 0) | job->on_dead_depth << DEPTH_SHIFT;
}

void job_flags_unpack(int packed, struct job *job_out)
{
    job_out->update = keyed_flags_unpack(packed);
    job_out->on_dead_depth = packed < 0 ? 0 : packed >> DEPTH_SHIFT;
}

const char *job_encoding_name(enum job_encoding encoding)
{
    static const char *const names[] = {[JOB_JSON] = "json", [JOB_RAW] = "raw"};

    assert((unsigned)encoding < COUNT_OF(names));
    return names[encoding];
}

const char *job_reason_name(enum job_reason reason)
{
    static const char *const names[] = {
        [REASON_NONE] = NULL,
        [REASON_EXHAUSTED] = "exhausted",
        [REASON_PERMANENT] = "permanent",
        [REASON_STALLED] = "stalled",
        [REASON_NO_HANDLER] = "no_handler",
        [REASON_INVALID_PAYLOAD] = "invalid_payload",
        [REASON_CANNOT_START] = "cannot_start",
    };

    assert((unsigned)reason < COUNT_OF(names));
    return names[reason];
}

const char *run_outcome_name(enum run_outcome outcome)
{
    static const char *const names[] = {
        [RUN_DONE] = "done",         [RUN_RETRY] = "retry",     [RUN_DEAD] = "dead",
        [RUN_RELEASED] = "released", [RUN_SNOOZED] = "snoozed", [RUN_CANCELLED] = "cancelled",
        [RUN_STALLED] = "stalled",
    };

    assert((unsigned)outcome < COUNT_OF(names));
    return names[outcome];
}
