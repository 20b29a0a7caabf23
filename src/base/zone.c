/*
 * zone.c - a time zone: what clocks on its walls show.
 */
#include "base/zone.h"

/* Far beyond every moment, and safe to add an offset to. */
#define LONG_AGO (INT64_MIN / 4)
#define NEVER    (INT64_MAX / 4)

const struct zone zone_utc = {.name = "UTC"};

/* How many shifts have happened. */
static size_t count_shifts(const struct zone *zone, int64_t moment)
{
    size_t low = 0, high = zone->shift_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (zone->shifts[middle].at <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zone_span zone_span_at(const struct zone *zone, int64_t moment)
{
    const size_t happened = count_shifts(zone, moment);
    struct zone_span span = {.from = LONG_AGO, .until = NEVER, .offset = zone->first_offset};

    if (happened > 0) {
        span.from = zone->shifts[happened - 1].at;
        span.offset = zone->shifts[happened - 1].offset;
    }
    if (happened < zone->shift_count) {
        span.until = zone->shifts[happened].at;
    } else if (zone->has_rule) {
        const struct zone_rule_span ruled = zone_rule_span_at(&zone->rule, moment);

        span.from = ruled.from > span.from ? ruled.from : span.from;
        span.until = ruled.until;
        span.offset = ruled.offset;
    }
    return span;
}

int64_t zone_local(const struct zone *zone, int64_t moment)
{
    return moment + zone_span_at(zone, moment).offset;
}

/* Every moment that shows `local` is within the largest offset of it. */
struct zone_moments zone_resolve(const struct zone *zone, int64_t local)
{
    struct zone_moments moments = {.times = ZONE_NEVER, .first = NEVER};

    for (int64_t at = local - ZONE_OFFSET_MAX; at <= local + ZONE_OFFSET_MAX;) {
        const struct zone_span span = zone_span_at(zone, at);
        const int64_t moment = local - span.offset;
        const bool shows = moment >= span.from && moment < span.until;

        if (shows && moments.times == ZONE_NEVER)
            moments = (struct zone_moments){ZONE_ONCE, moment, moment};
        else if (shows)
            moments = (struct zone_moments){ZONE_TWICE, moments.first, moment};
        else if (moments.first == NEVER && moment < span.from)
            moments.first = moments.last = span.from;
        at = span.until;
    }
    return moments;
}
