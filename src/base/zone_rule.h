/*
 * zone_rule.h - the yearly rule of a time zone, as POSIX writes it: CET-1CEST,M3.5.0,M10.5.0/3
 *
 * It is what a zone's file has for the years after its table ends.
 */
#ifndef BASE_ZONE_RULE_H
#define BASE_ZONE_RULE_H

#include "base/base.h"

#define ZONE_OFFSET_MAX 93600 /* seconds, 26 hours: further than any place on earth */

/* How the day of a shift is written. */
enum zone_day_kind {
    ZONE_DAY_OF_WEEK,      /* Mm.w.d: the w-th weekday d of month m; the 5th is the last */
    ZONE_DAY_WITHOUT_LEAP, /* Jn: 1 to 365, 29 February is not counted */
    ZONE_DAY_OF_YEAR,      /* n: 0 to 365 */
};

struct zone_day {
    enum zone_day_kind kind;
    int month, week, weekday;
    int day;
    int32_t time; /* of the shift, seconds after local midnight; may lie on another day */
};

struct zone_rule {
    int32_t offset; /* standard time, seconds east of UTC */
    bool has_summer;
    int32_t summer_offset;
    struct zone_day start, end; /* of summer time */
};

/* False when the text is no such rule. */
bool zone_rule_parse(const char *text, struct zone_rule *rule_out) MUST_CHECK;

/* As struct zone_span. */
struct zone_rule_span {
    int64_t from, until;
    int32_t offset;
};

struct zone_rule_span zone_rule_span_at(const struct zone_rule *rule, int64_t moment);

#endif
