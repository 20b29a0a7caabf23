/*
 * zone.h - a time zone: what clocks on its walls show.
 *
 * Pure arithmetic on what zone_load.h has read; no process-wide zone, no tzset(). All times are
 * whole seconds: a moment since 1970 in UTC, or a local time, which is what the clock on the wall
 * shows, counted as if that were UTC.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "base/base.h"
#include "base/zone_rule.h"

/* The offset from some moment on. */
struct zone_shift {
    int64_t at;
    int32_t offset; /* seconds east of UTC */
};

struct zone {
    const char *name;
    int32_t first_offset;            /* before all shifts */
    const struct zone_shift *shifts; /* in order of time */
    size_t shift_count;
    bool has_rule; /* after the last shift; without one its offset stays */
    struct zone_rule rule;
};

extern const struct zone zone_utc;

/* A stretch of time with one offset. The spans of a zone follow each other without a break; two
 * neighbours may have the same offset. */
struct zone_span {
    int64_t from, until; /* until is the start of the next one */
    int32_t offset;
};

struct zone_span zone_span_at(const struct zone *zone, int64_t moment);

int64_t zone_local(const struct zone *zone, int64_t moment);

enum zone_times {
    ZONE_ONCE,
    ZONE_NEVER, /* the clocks skip it */
    ZONE_TWICE, /* the clocks are set back over it */
};

struct zone_moments {
    enum zone_times times;
    int64_t first; /* when the clock shows it, or skips it */
    int64_t last;  /* the same as first, except for ZONE_TWICE */
};

/* When the clock shows a local time. */
struct zone_moments zone_resolve(const struct zone *zone, int64_t local);

#endif
