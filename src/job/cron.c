/*
 * cron.c - a schedule to its next time.
 *
 *     local times that match --zone--> moments
 *
 * Fixed hours walk over local times and ask the zone when each of them is: local times in order
 * are moments in order. Hours that repeat walk over moments, one stretch of equal offset after the
 * other.
 */
#include "job/cron.h"

#include "base/calendar.h"
#include "base/timestamp.h"

#define NONE    INT64_MAX
#define HORIZON ((int64_t)8 * 366 * SECONDS_PER_DAY) /* 29 February may be eight years away */

static bool has(uint64_t set, int number)
{
    return (set >> number & 1) != 0;
}

/* The smallest of the set that is at least `from`; -1: there is none. */
static int next_in(uint64_t set, int from)
{
    for (int number = from; number < 64; number++) {
        if (has(set, number))
            return number;
    }
    return -1;
}

static int second_of_day(int hour, int minute, int second)
{
    return (hour * 60 + minute) * 60 + second;
}

/* The first second of the day, from `from` on, that matches; -1: there is none. */
static int next_second(const struct cron *cron, int from)
{
    const int hour = from / 3600, minute = from / 60 % 60;
    const int first_minute = next_in(cron->minutes, 0), first_second = next_in(cron->seconds, 0);

    if (has(cron->hours, hour)) {
        const int second = next_in(cron->seconds, from % 60);
        const int later = next_in(cron->minutes, minute + 1);

        if (has(cron->minutes, minute) && second >= 0)
            return second_of_day(hour, minute, second);
        if (later >= 0)
            return second_of_day(hour, later, first_second);
    }
    const int later = next_in(cron->hours, hour + 1);
    return later < 0 ? -1 : second_of_day(later, first_minute, first_second);
}

static bool matches_day(const struct cron *cron, int64_t day, const struct calendar_date *date)
{
    const bool by_date = has(cron->days, date->day);
    const bool by_week = has(cron->weekdays, calendar_weekday(day));

    return cron->either_day ? by_date || by_week : by_date && by_week;
}

/* The first day from `day` on that matches, or one after `last`. */
static int64_t next_day(const struct cron *cron, int64_t day, int64_t last)
{
    while (day <= last) {
        const struct calendar_date date = calendar_date(day);

        if (!has(cron->months, date.month))
            day += calendar_days_in_month(date.year, date.month) - date.day + 1;
        else if (!matches_day(cron, day, &date))
            day++;
        else
            break;
    }
    return day;
}

/* The first local time that matches, from `from` on and before `until`; NONE when there is none. */
static int64_t find_match(const struct cron *cron, int64_t from, int64_t until)
{
    const int64_t first = calendar_divide(from, SECONDS_PER_DAY);
    const int64_t last = calendar_divide(until, SECONDS_PER_DAY);

    for (int64_t day = next_day(cron, first, last); day <= last;
         day = next_day(cron, day + 1, last)) {
        const int second =
            next_second(cron, day == first ? (int)(from - first * SECONDS_PER_DAY) : 0);
        const int64_t local = day * SECONDS_PER_DAY + second;

        if (second >= 0)
            return local < until ? local : NONE;
    }
    return NONE;
}

static int64_t next_by_local_time(const struct cron *cron, const struct zone *zone, int64_t after)
{
    int64_t local = zone_local(zone, after);
    const int64_t until = local + HORIZON;

    while ((local = find_match(cron, local + 1, until)) != NONE) {
        const int64_t moment = zone_resolve(zone, local).first;

        /* What the clock shows for the second time has run the first time. */
        if (moment > after)
            return moment;
    }
    return NONE;
}

static int64_t next_by_moment(const struct cron *cron, const struct zone *zone, int64_t after)
{
    const int64_t horizon = after + HORIZON;

    for (int64_t at = after + 1; at < horizon;) {
        const struct zone_span span = zone_span_at(zone, at);
        const int64_t until = span.until < horizon ? span.until : horizon;
        const int64_t local = find_match(cron, at + span.offset, until + span.offset);

        if (local != NONE)
            return local - span.offset;
        at = until;
    }
    return NONE;
}

usec_t cron_next(const struct cron *cron, const struct zone *zone, usec_t after)
{
    const int64_t second = calendar_divide(after, USEC_PER_SEC);
    const int64_t next = cron->hours_repeat ? next_by_moment(cron, zone, second)
                                            : next_by_local_time(cron, zone, second);

    return next > TIMESTAMP_MAX / USEC_PER_SEC ? 0 : next * USEC_PER_SEC;
}
