/*
 * request.c - what callers of <taskharbor/client.h> hand in, as the structs we use ourselves.
 *
 * A member that is added to one of these structs stands at the end, means its default when it is
 * zero, and leaves no hole after it: a hole of today would be read as a member of tomorrow.
 */
#include "client/request.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/timestamp.h"
#include "client/record.h"
#include "job/idempotency.h"
#include "store/listing.h"

#include <assert.h>
#include <string.h>
#include <taskharbor/version.h>

#define LIMIT_DEFAULT 100
#define SIZE_LIMIT    4096 /* no struct of ours grows to this: `size` was never set */

#define ENDS_WITH(type, member)                                                                    \
    (offsetof(struct type, member) + sizeof(((struct type *)0)->member) == sizeof(struct type))

static_assert(ENDS_WITH(th_options, reserved), "th_options has a hole at its end");
static_assert(ENDS_WITH(th_new_job, tag_count), "th_new_job has a hole at its end");
static_assert(TH_CURSOR_SIZE == LISTING_CURSOR_SIZE, "a cursor has another size outside");
static_assert(ENDS_WITH(th_filter, tag), "th_filter has a hole at its end");

/* A struct that begins with its size. */
struct layout {
    const char *name;
    const char *initialiser;
    size_t least; /* without this much it says nothing */
    size_t known;
};

static bool is_name(const char *field, const char *name, struct error *err)
{
    return job_name_check(name, JOB_NAME_MAX, err) || error_prefix(err, "%s", field);
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Lays what was given over the defaults in `into`. */
static bool read_sized(const struct layout *layout, const void *given, void *into,
                       struct error *err)
{
    size_t size;

    memcpy(&size, given, sizeof size);
    if (size < layout->least || size > SIZE_LIMIT)
        return error_set(err, TH_E_INVALID, "%s: size is %zu: initialise it with %s", layout->name,
                         size, layout->initialiser);
    if (size > layout->known &&
        !is_zero((const unsigned char *)given + layout->known, size - layout->known))
        return error_set(err, TH_E_INVALID,
                         "%s: uses a field that libtaskharbor %s does not know yet", layout->name,
                         TH_VERSION);
    memcpy(into, given, size < layout->known ? size : layout->known);
    return true;
}

/* ---- options ---- */

static bool check_options(const struct th_options *options, struct error *err)
{
    if (options->max_payload > JOB_PAYLOAD_MAX)
        return error_set(err, TH_E_INVALID, "options: max_payload is %zu: use at most %zu",
                         options->max_payload, JOB_PAYLOAD_MAX);
    if (options->idempotency_window < 0)
        return error_set(err, TH_E_INVALID, "options: idempotency_window is negative");
    if (options->reserved != 0)
        return error_set(err, TH_E_INVALID, "options: reserved is not 0");
    return true;
}

bool request_options(const struct th_options *given, struct th_options *options_out,
                     struct error *err)
{
    static const struct layout layout = {"options", "TH_OPTIONS", sizeof(size_t),
                                         sizeof(struct th_options)};

    *options_out = (struct th_options)TH_OPTIONS;
    if (given && !read_sized(&layout, given, options_out, err))
        return false;
    if (!check_options(options_out, err))
        return false;
    if (options_out->max_payload == 0)
        options_out->max_payload = JOB_PAYLOAD_DEFAULT;
    if (options_out->idempotency_window == 0)
        options_out->idempotency_window = IDEMPOTENCY_WINDOW_DEFAULT;
    return true;
}

/* ---- jobs ---- */

/* Without a payload it is null for JSON, as in job_defaults(), and no bytes for raw. */
static bool payload_of(const struct th_new_job *given, struct job *job_out, struct error *err)
{
    const void *data = given->payload;
    size_t size = given->payload_size;

    if (!data && size != 0 && size != TH_TEXT)
        return error_set(err, TH_E_INVALID, "payload is NULL, but payload_size is %zu", size);
    if (!data && job_out->encoding == JOB_JSON)
        return true;
    if (!data)
        data = "";
    job_out->payload = (struct bytes){data, size == TH_TEXT ? strlen(data) : size};
    return true;
}

static bool encoding_of(enum th_encoding given, enum job_encoding *encoding_out, struct error *err)
{
    switch (given) {
    case TH_ENCODING_JSON:
        *encoding_out = JOB_JSON;
        return true;
    case TH_ENCODING_RAW:
        *encoding_out = JOB_RAW;
        return true;
    }
    return error_set(err, TH_E_INVALID, "encoding %u does not exist", (unsigned)given);
}

static bool update_run_at_of(enum th_update_run_at given, enum update_run_at *when_out,
                             struct error *err)
{
    switch (given) {
    case TH_UPDATE_ALWAYS:
        *when_out = UPDATE_RUN_AT_ALWAYS;
        return true;
    case TH_UPDATE_NEVER:
        *when_out = UPDATE_RUN_AT_NEVER;
        return true;
    case TH_UPDATE_IF_EARLIER:
        *when_out = UPDATE_RUN_AT_IF_EARLIER;
        return true;
    case TH_UPDATE_IF_LATER:
        *when_out = UPDATE_RUN_AT_IF_LATER;
        return true;
    }
    return error_set(err, TH_E_INVALID, "update_run_at %u does not exist", (unsigned)given);
}

static bool convert_job(const struct th_new_job *given, struct job *job_out, struct error *err)
{
    *job_out = job_defaults();
    job_out->type = given->type;
    if (given->queue)
        job_out->queue = given->queue;
    job_out->priority = given->priority;
    job_out->run_at = given->run_at;
    job_out->timeout = given->timeout;
    job_out->max_attempts = given->max_attempts;
    job_out->max_stalls = given->max_stalls;
    job_out->key = given->key;
    job_out->idempotency_key = given->idempotency_key;
    job_out->update.payload = given->update_payload != 0;
    job_out->update.retry = given->update_retry != 0;
    job_out->update.reset_counts = given->reset_counts != 0;
    job_out->headers = given->headers;
    job_out->tags = (struct tags){given->tags, given->tag_count};
    if (!given->tags && given->tag_count > 0)
        return error_set(err, TH_E_INVALID, "tags is NULL, but tag_count is %zu", given->tag_count);
    return (!given->id || request_id("id", given->id, &job_out->id, err)) &&
           encoding_of(given->encoding, &job_out->encoding, err) &&
           payload_of(given, job_out, err) &&
           update_run_at_of(given->update_run_at, &job_out->update.run_at, err);
}

static bool read_job(const void *given, size_t size, struct job *job_out, struct error *err)
{
    static const struct layout layout = {"job", "TH_NEW_JOB", offsetof(struct th_new_job, id),
                                         sizeof(struct th_new_job)};
    struct th_new_job job = TH_NEW_JOB(NULL);

    if (!read_sized(&layout, given, &job, err))
        return false;
    if (job.size != size)
        return error_set(err, TH_E_INVALID, "size is %zu, and that of the first job is %zu",
                         job.size, size);
    return convert_job(&job, job_out, err);
}

bool request_jobs(const struct th_new_job *given, size_t count, struct job *jobs_out,
                  struct error *err)
{
    if (count > 0 && !given)
        return error_set(err, TH_E_INVALID, "job is NULL");

    for (size_t i = 0; i < count; i++) {
        const char *place = (const char *)given + i * given->size;

        if (read_job(place, given->size, &jobs_out[i], err))
            continue;
        return count == 1 ? false : error_prefix(err, "job %zu", i + 1);
    }
    return true;
}

/* ---- filters ---- */

static bool state_of(enum th_state given, struct job_filter *filter_out, struct error *err)
{
    if (given == TH_STATE_ANY)
        return true;
    filter_out->by_state = true;
    if (record_to_job_state(given, &filter_out->state))
        return true;
    return error_set(err, TH_E_INVALID, "filter: state %u does not exist", (unsigned)given);
}

static bool limit_of(int given, size_t *limit_out, struct error *err)
{
    if (given < 0 || given > JOB_PAGE_MAX)
        return error_set(err, TH_E_INVALID, "filter: limit is out of range: use 1 to %d",
                         JOB_PAGE_MAX);
    *limit_out = given == 0 ? LIMIT_DEFAULT : (size_t)given;
    return true;
}

static bool after_of(const char after[TH_CURSOR_SIZE], struct job_cursor *after_out,
                     struct error *err)
{
    char text[TH_CURSOR_SIZE], shown[EXCERPT_SIZE];

    memcpy(text, after, sizeof text);
    text[sizeof text - 1] = '\0';
    return text[0] == '\0' || listing_parse_cursor(text, after_out) ||
           error_set(err, TH_E_INVALID, "filter: after '%s' is not the next of a page",
                     excerpt_of(text, shown));
}

static bool moment_of(const char *field, int64_t given, usec_t *moment_out, struct error *err)
{
    *moment_out = given;
    return (given >= 0 && given <= TIMESTAMP_MAX) ||
           error_set(err, TH_E_INVALID, "filter: %s is out of range: use the years 1970 to 9999",
                     field);
}

bool request_filter(const struct th_filter *given, struct job_filter *filter_out, struct error *err)
{
    static const struct layout layout = {"filter", "TH_FILTER", sizeof(size_t),
                                         sizeof(struct th_filter)};
    struct th_filter filter = TH_FILTER;

    if (given && !read_sized(&layout, given, &filter, err))
        return false;
    *filter_out = (struct job_filter){
        .queue = filter.queue,
        .type = filter.type,
        .key = filter.key,
        .error = filter.error,
        .tag = filter.tag,
        .oldest_first = filter.oldest_first != 0,
        .brief = filter.brief != 0,
    };
    return state_of(filter.state, filter_out, err) &&
           (!filter.queue || is_name("filter: queue", filter.queue, err)) &&
           (!filter.type || is_name("filter: type", filter.type, err)) &&
           (!filter.tag || is_name("filter: tag", filter.tag, err)) &&
           moment_of("since", filter.since, &filter_out->since, err) &&
           moment_of("until", filter.until, &filter_out->until, err) &&
           limit_of(filter.limit, &filter_out->limit, err) &&
           after_of(filter.after, &filter_out->after, err);
}

/* ---- single values ---- */

bool request_id(const char *field, const char *text, struct uuid *id_out, struct error *err)
{
    char shown[EXCERPT_SIZE];

    if (!text)
        return error_set(err, TH_E_INVALID, "%s is NULL", field);
    if (uuid_parse(text, id_out) && !uuid_is_nil(id_out))
        return true;
    return error_set(err, TH_E_INVALID, "%s '%s' is not the id of a job", field,
                     excerpt_of(text, shown));
}

bool request_queue(const char *name, struct error *err)
{
    if (!name)
        return error_set(err, TH_E_INVALID, "queue is NULL");
    return is_name("queue", name, err);
}

bool request_run_at(usec_t run_at, struct error *err)
{
    if (run_at >= 0 && run_at <= TIMESTAMP_MAX)
        return true;
    return error_set(err, TH_E_INVALID, "run_at is out of range: use the years 1970 to 9999");
}
