/*
 * listing.c - the order of a list, and where in it a job stands: what all drivers share.
 */
#include "store/listing.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ID_TIME_BYTES 6 /* of milliseconds, at the head of a UUIDv7 */
#define MSEC          ((usec_t)1000)

enum listing_order listing_order_of(const struct job_filter *filter)
{
    if (!filter->by_state || filter->tag)
        return LISTING_BY_ID;
    if (job_state_has_ended(filter->state))
        return LISTING_BY_END;
    return filter->state == JOB_RUNNING ? LISTING_BY_START : LISTING_BY_DUE;
}

static usec_t time_of_id(const struct uuid *id)
{
    usec_t milliseconds = 0;

    for (size_t i = 0; i < ID_TIME_BYTES; i++)
        milliseconds = milliseconds << 8 | id->bytes[i];
    return milliseconds * MSEC;
}

/* The lowest id whose time is not before this moment. */
static struct uuid first_id_at(usec_t moment)
{
    struct uuid id = {0};
    uint64_t milliseconds = ((uint64_t)moment + MSEC - 1) / MSEC;

    for (size_t i = ID_TIME_BYTES; i-- > 0; milliseconds >>= 8)
        id.bytes[i] = milliseconds & 0xff;
    return id;
}

usec_t listing_time(const struct job_filter *filter, const struct job *job)
{
    switch (listing_order_of(filter)) {
    case LISTING_BY_ID:
        return time_of_id(&job->id);
    case LISTING_BY_DUE:
        return job->due;
    case LISTING_BY_START:
        return job->started_at;
    case LISTING_BY_END:
        return job->ended_at;
    }
    return 0;
}

struct job_cursor listing_cursor(const struct job_filter *filter, const struct job *job)
{
    bool by_id = listing_order_of(filter) == LISTING_BY_ID;

    return (struct job_cursor){
        .is_set = true,
        .at = by_id ? 0 : listing_time(filter, job),
        .ref = by_id ? 0 : job->ref,
        .id = job->id,
    };
}

bool listing_is_picky(const struct job_filter *filter)
{
    return filter->type || filter->key || filter->error || (filter->tag && filter->by_state);
}

bool listing_picks(const struct job_filter *filter, const char *type, const char *key,
                   const char *error)
{
    return (!filter->type || text_equal(filter->type, type)) &&
           (!filter->key || (key && text_equal(filter->key, key))) &&
           (!filter->error || (error && strstr(error, filter->error)));
}

bool listing_matches(const struct job_filter *filter, const struct job *job)
{
    usec_t time = listing_time(filter, job);

    return (!filter->by_state || job->state == filter->state) &&
           (!filter->queue || text_equal(filter->queue, job->queue)) &&
           (!filter->tag || tags_have(job->tags, filter->tag)) &&
           (filter->since == 0 || time >= filter->since) &&
           (filter->until == 0 || time < filter->until) &&
           listing_picks(filter, job->type, job->key, job->last_error);
}

static bool is_before(usec_t at, int64_t ref, usec_t other_at, int64_t other_ref)
{
    return at < other_at || (at == other_at && ref < other_ref);
}

static void pass_over_seen(const struct job_filter *filter, struct listing_range *range)
{
    const struct job_cursor *after = &filter->after;

    if (filter->oldest_first) {
        if (is_before(range->low_at, range->low_ref, after->at, after->ref)) {
            range->low_at = after->at;
            range->low_ref = after->ref;
        }
        if (uuid_compare(&range->low_id, &after->id) <= 0) {
            range->low_id = after->id;
            range->low_is_in = false;
        }
        return;
    }
    if (is_before(after->at, after->ref, range->high_at, range->high_ref)) {
        range->high_at = after->at;
        range->high_ref = after->ref;
    }
    if (uuid_compare(&after->id, &range->high_id) < 0)
        range->high_id = after->id;
}

struct listing_range listing_range_of(const struct job_filter *filter)
{
    struct listing_range range = {
        .low_at = filter->since != 0 ? filter->since : INT64_MIN,
        .high_at = filter->until != 0 ? filter->until : INT64_MAX,
        .high_ref = filter->until != 0 ? 0 : INT64_MAX,
        .low_id = first_id_at(filter->since),
        .high_id = first_id_at(filter->until),
        .low_is_in = true,
    };

    if (filter->until == 0)
        memset(&range.high_id, 0xff, sizeof range.high_id);
    if (filter->after.is_set)
        pass_over_seen(filter, &range);
    return range;
}

size_t listing_bytes(const struct job *job)
{
    return job->payload.length + (job->headers ? strlen(job->headers) : 0) + job->result.length +
           job->output.length;
}

/* A waiting job keeps its time when it becomes ready, is reserved and ends; a retry gives it
 * another one. */
static bool has_kept_its_due(const struct job_filter *filter, const struct job *job)
{
    return job->state == filter->state || job->executions == 0 ||
           (job->executions == 1 && !job_state_is_waiting(job->state));
}

bool listing_find(const struct job_filter *filter, const struct job *job,
                  struct job_cursor *cursor_out)
{
    enum listing_order order = listing_order_of(filter);

    *cursor_out = listing_cursor(filter, job);
    if (order == LISTING_BY_ID)
        return true;
    if (order == LISTING_BY_DUE)
        return has_kept_its_due(filter, job);
    return job->state == filter->state;
}

const char *listing_format_cursor(const struct job_cursor *cursor, char text[LISTING_CURSOR_SIZE])
{
    size_t length = (size_t)snprintf(text, LISTING_CURSOR_SIZE, "%016" PRIx64 "%016" PRIx64,
                                     (uint64_t)cursor->at, (uint64_t)cursor->ref);

    for (size_t i = 0; i < sizeof cursor->id.bytes; i++, length += 2)
        snprintf(text + length, LISTING_CURSOR_SIZE - length, "%02x", cursor->id.bytes[i]);
    return text;
}

static bool read_hex(const char **text, size_t digits, uint64_t *value_out)
{
    static const char hex[] = "0123456789abcdef";

    *value_out = 0;
    for (size_t i = 0; i < digits; i++, (*text)++) {
        const char *digit = **text != '\0' ? strchr(hex, **text) : NULL;
        if (!digit)
            return false;
        *value_out = *value_out << 4 | (uint64_t)(digit - hex);
    }
    return true;
}

bool listing_parse_cursor(const char *text, struct job_cursor *cursor_out)
{
    uint64_t at, ref, byte;

    if (!read_hex(&text, 16, &at) || !read_hex(&text, 16, &ref))
        return false;
    *cursor_out = (struct job_cursor){.is_set = true, .at = (usec_t)at, .ref = (int64_t)ref};
    for (size_t i = 0; i < sizeof cursor_out->id.bytes; i++) {
        if (!read_hex(&text, 2, &byte))
            return false;
        cursor_out->id.bytes[i] = (unsigned char)byte;
    }
    return *text == '\0';
}
