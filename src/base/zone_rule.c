/*
 * zone_rule.c - the yearly rule of a time zone, as POSIX writes it.
 *
 * With the extensions of RFC 8536: hours of a shift go from -167 to 167.
 */
#include "base/zone_rule.h"

#include "base/calendar.h"

#include <assert.h>
#include <ctype.h>

#define SECONDS_PER_HOUR 3600
#define NAME_MIN         3 /* letters of an abbreviation */
#define OFFSET_HOURS     24
#define SHIFT_HOURS      167
#define SHIFT_DEFAULT    (2 * SECONDS_PER_HOUR)

/* The year of a moment and two on each side: a shift may lie days away from its date, and so in
 * another year. */
#define YEARS_BEFORE 2
#define YEARS        5
#define SHIFTS       10

struct shift {
    int64_t at;
    int32_t offset;
};

/* The functions below read one part, step over it, and say whether it was there. */

static bool read_char(const char **at, char wanted)
{
    if (**at != wanted)
        return false;
    (*at)++;
    return true;
}

static bool read_number(const char **at, int min, int max, int *number_out)
{
    const char *start = *at;
    int number = 0;

    while (isdigit((unsigned char)**at) && number <= max)
        number = number * 10 + (*(*at)++ - '0');
    *number_out = number;
    return *at > start && number >= min && number <= max;
}

/* CEST, or <+0330> where it is not made of letters. */
static bool read_name(const char **at)
{
    const bool is_quoted = read_char(at, '<');
    const char *start = *at;

    while (isalpha((unsigned char)**at) ||
           (is_quoted && (isdigit((unsigned char)**at) || **at == '+' || **at == '-')))
        (*at)++;
    return *at - start >= NAME_MIN && (!is_quoted || read_char(at, '>'));
}

/* [+-]hh[:mm[:ss]] */
static bool read_time(const char **at, int max_hours, int32_t *seconds_out)
{
    const bool is_negative = read_char(at, '-');
    int hours = 0, minutes = 0, seconds = 0;

    if (!is_negative)
        (void)read_char(at, '+');
    if (!read_number(at, 0, max_hours, &hours))
        return false;
    if (read_char(at, ':') && !read_number(at, 0, 59, &minutes))
        return false;
    if (read_char(at, ':') && !read_number(at, 0, 59, &seconds))
        return false;
    *seconds_out = hours * SECONDS_PER_HOUR + minutes * 60 + seconds;
    if (is_negative)
        *seconds_out = -*seconds_out;
    return true;
}

/* POSIX counts to the west. */
static bool read_offset(const char **at, int32_t *offset_out)
{
    if (!read_time(at, OFFSET_HOURS, offset_out))
        return false;
    *offset_out = -*offset_out;
    return true;
}

static bool read_date(const char **at, struct zone_day *day)
{
    if (read_char(at, 'M')) {
        day->kind = ZONE_DAY_OF_WEEK;
        return read_number(at, 1, 12, &day->month) && read_char(at, '.') &&
               read_number(at, 1, 5, &day->week) && read_char(at, '.') &&
               read_number(at, 0, 6, &day->weekday);
    }
    if (read_char(at, 'J')) {
        day->kind = ZONE_DAY_WITHOUT_LEAP;
        return read_number(at, 1, 365, &day->day);
    }
    day->kind = ZONE_DAY_OF_YEAR;
    return read_number(at, 0, 365, &day->day);
}

static bool read_day(const char **at, struct zone_day *day)
{
    day->time = SHIFT_DEFAULT;
    return read_char(at, ',') && read_date(at, day) &&
           (!read_char(at, '/') || read_time(at, SHIFT_HOURS, &day->time));
}

bool zone_rule_parse(const char *text, struct zone_rule *rule_out)
{
    struct zone_rule rule = {0};
    const char *at = text;

    if (!read_name(&at) || !read_offset(&at, &rule.offset))
        return false;
    if (*at != '\0') {
        rule.has_summer = true;
        rule.summer_offset = rule.offset + SECONDS_PER_HOUR;
        if (!read_name(&at) || (*at != ',' && !read_offset(&at, &rule.summer_offset)) ||
            !read_day(&at, &rule.start) || !read_day(&at, &rule.end) || *at != '\0')
            return false;
    }
    *rule_out = rule;
    return true;
}

static int64_t day_of_week(const struct zone_day *day, int64_t year)
{
    const int64_t first = calendar_day(year, day->month, 1);
    const int until = (day->weekday - calendar_weekday(first) + 7) % 7;
    int of_month = 1 + until + (day->week - 1) * 7;

    while (of_month > calendar_days_in_month(year, day->month))
        of_month -= 7;
    return first + of_month - 1;
}

static int64_t day_in_year(const struct zone_day *day, int64_t year)
{
    const int march = 60; /* 1 March, where 29 February is not counted */

    switch (day->kind) {
    case ZONE_DAY_OF_WEEK:
        return day_of_week(day, year);
    case ZONE_DAY_WITHOUT_LEAP:
        return calendar_day(year, 1, 1) + day->day - 1 +
               (day->day >= march && calendar_is_leap_year(year));
    case ZONE_DAY_OF_YEAR:
        return calendar_day(year, 1, 1) + day->day;
    }
    assert(false);
    return 0;
}

/* `before` is the offset until then: what the clock shows at the shift is still by it. */
static struct shift shift_in(const struct zone_day *day, int64_t year, int32_t before,
                             int32_t offset)
{
    return (struct shift){day_in_year(day, year) * SECONDS_PER_DAY + day->time - before, offset};
}

/* In order of time. Where summer ends and starts at one moment it just goes on. */
static void list_shifts(const struct zone_rule *rule, int64_t first_year,
                        struct shift shifts[SHIFTS])
{
    size_t count = 0;

    for (int64_t year = first_year; year < first_year + YEARS; year++) {
        const struct shift both[] = {
            shift_in(&rule->end, year, rule->summer_offset, rule->offset),
            shift_in(&rule->start, year, rule->offset, rule->summer_offset),
        };

        for (size_t i = 0; i < COUNT_OF(both); i++) {
            size_t place = count++;

            for (; place > 0 && shifts[place - 1].at > both[i].at; place--)
                shifts[place] = shifts[place - 1];
            shifts[place] = both[i];
        }
    }
}

struct zone_rule_span zone_rule_span_at(const struct zone_rule *rule, int64_t moment)
{
    struct zone_rule_span span = {INT64_MIN / 4, INT64_MAX / 4, rule->offset};
    struct shift shifts[SHIFTS] = {{0}};

    if (!rule->has_summer)
        return span;

    const int64_t day = calendar_divide(moment, SECONDS_PER_DAY);
    list_shifts(rule, calendar_date(day).year - YEARS_BEFORE, shifts);
    size_t happened = 0;
    while (happened < SHIFTS && shifts[happened].at <= moment)
        happened++;
    assert(happened > 0 && happened < SHIFTS);
    span.from = shifts[happened - 1].at;
    span.until = shifts[happened].at;
    span.offset = shifts[happened - 1].offset;
    return span;
}
