/*
 * filters.c - what a door asks for as what the store is asked for.
 */
#include "browse/filters.h"

#include "base/timestamp.h"
#include "store/listing.h"

static struct job_cursor cursor_of(const char *after)
{
    struct job_cursor cursor = {0};

    if (!after || !listing_parse_cursor(after, &cursor))
        return (struct job_cursor){0};
    if (cursor.at < 0 || cursor.at > TIMESTAMP_MAX)
        cursor.at = TIMESTAMP_MAX;
    if (cursor.ref < 0)
        cursor.ref = INT64_MAX;
    return cursor;
}

struct job_filter filter_of_query(const struct job_query *query)
{
    const bool by_state = query->state != JOB_QUERY_ANY_STATE;

    return (struct job_filter){
        .by_state = by_state,
        .state = by_state ? (enum job_state)query->state : JOB_SCHEDULED,
        .queue = query->queue,
        .type = query->type,
        .tag = query->tag,
        .key = query->key,
        .error = query->error,
        .since = query->since,
        .until = query->until,
        .oldest_first = query->order == JOB_QUERY_OLDEST_FIRST,
        .brief = !query->full,
        .after = cursor_of(query->after),
        .limit = (size_t)query->limit,
    };
}
