/*
 * cron_describe.c - a schedule in words.
 *
 *     at 03:00 every day                            a few times of the day
 *     every 2 hours from 08:15 to 18:15             one minute of several hours
 *     every 5 minutes from 09:00 to 17:59           several minutes
 *     every 10 seconds in minute 0 of every hour    several seconds
 *     ... on Monday to Friday in March              then the days, unless it is every day
 */
#include "job/cron_describe.h"

#include "base/buffer.h"

#define TIMES_LISTED 4 /* more times of a day than these are told as a pace */
#define HOURS_LISTED 3
#define RUN_MIN      3 /* neighbours that are told as a range */

#define HOURS_ALL    (((uint64_t)1 << 24) - 1)
#define MINUTES_ALL  (((uint64_t)1 << 60) - 1)
#define DAYS_ALL     (((uint64_t)1 << 32) - 2)
#define MONTHS_ALL   (((uint64_t)1 << 13) - 2)
#define WEEKDAYS_ALL (((uint64_t)1 << 7) - 1)

static const char *const months[] = {"",        "January",  "February", "March",  "April",
                                     "May",     "June",     "July",     "August", "September",
                                     "October", "November", "December"};

/* The week starts with Monday here: Saturday and Sunday stay together. */
static const char *const weekdays[] = {"",         "Monday", "Tuesday",  "Wednesday",
                                       "Thursday", "Friday", "Saturday", "Sunday"};

/* What numbers are called; the others are just numbers. */
struct names {
    const char *const *items;
    int count;
};

static const struct names month_names = {months, COUNT_OF(months)};
static const struct names weekday_names = {weekdays, COUNT_OF(weekdays)};
static const struct names no_names = {NULL, 0};

static bool has(uint64_t set, int number)
{
    return number < 64 && (set >> number & 1) != 0;
}

static int count_of(uint64_t set)
{
    int count = 0;

    for (int number = 0; number < 64; number++)
        count += has(set, number);
    return count;
}

static int first_of(uint64_t set)
{
    int number = 0;

    while (number < 63 && !has(set, number))
        number++;
    return number;
}

static int last_of(uint64_t set)
{
    int number = 63;

    while (number > 0 && !has(set, number))
        number--;
    return number;
}

/* The distance between any two neighbours; 0: there is no such. */
static int step_of(uint64_t set)
{
    const int first = first_of(set), last = last_of(set);
    uint64_t steps = 0;

    if (first == last)
        return 0;
    const int step = first_of(set & ~((uint64_t)1 << first)) - first;
    for (int number = first; number <= last; number += step)
        steps |= (uint64_t)1 << number;
    return steps == set ? step : 0;
}

/* The step of a set that goes around: every n-th number from 0 on; 0: there is none. */
static int pace_of(uint64_t set, int n)
{
    const int step = step_of(set);

    return step > 0 && has(set, 0) && n % step == 0 && last_of(set) == n - step ? step : 0;
}

/* "5", "Monday" */
static void add_number(struct buffer *out, int number, const struct names *names)
{
    if (names->items && number < names->count)
        buffer_text(out, names->items[number]);
    else
        buffer_printf(out, "%d", number);
}

static int run_end(uint64_t set, int first)
{
    int last = first;

    while (has(set, last + 1))
        last++;
    return last - first + 1 >= RUN_MIN ? last : first;
}

/* ", " between all but the last two of a list, " and " there. */
static void add_comma(struct buffer *out, bool is_first, bool is_last)
{
    if (!is_first)
        buffer_text(out, is_last ? " and " : ", ");
}

/* "1, 5 to 9 and 20" */
static void add_list(struct buffer *out, uint64_t set, const struct names *names)
{
    const int first = first_of(set), last = last_of(set);

    for (int number = first; number <= last; number++) {
        if (!has(set, number))
            continue;
        const int end = run_end(set, number);
        add_comma(out, number == first, end == last);
        add_number(out, number, names);
        if (end > number) {
            buffer_text(out, " to ");
            add_number(out, end, names);
        }
        number = end;
    }
}

/* "minute 5", "minutes 5 and 10" */
static void add_counted(struct buffer *out, const char *unit, uint64_t set)
{
    buffer_printf(out, "%s%s ", unit, count_of(set) > 1 ? "s" : "");
    add_list(out, set, &no_names);
}

/* "every minute", "every 5 minutes" */
static void add_pace(struct buffer *out, const char *unit, int pace)
{
    if (pace == 1)
        buffer_printf(out, "every %s", unit);
    else
        buffer_printf(out, "every %d %ss", pace, unit);
}

/* "09:00", "09:00:30" */
static void add_time(struct buffer *out, int hour, int minute, int second)
{
    buffer_printf(out, "%02d:%02d", hour, minute);
    if (second != 0)
        buffer_printf(out, ":%02d", second);
}

/* "at 09:00, 09:30 and 12:00" */
static void add_times(struct buffer *out, const struct cron *cron)
{
    const int second = first_of(cron->seconds);
    const int last = last_of(cron->hours) * 60 + last_of(cron->minutes);
    bool is_first = true;

    buffer_text(out, "at ");
    for (int at = 0; at <= last; at++) {
        if (!has(cron->hours, at / 60) || !has(cron->minutes, at % 60))
            continue;
        add_comma(out, is_first, at == last);
        add_time(out, at / 60, at % 60, second);
        is_first = false;
    }
}

/* One second of one minute of several hours. */
static void add_hours(struct buffer *out, const struct cron *cron)
{
    const int minute = first_of(cron->minutes), second = first_of(cron->seconds);
    const int pace = pace_of(cron->hours, 24);

    add_pace(out, "hour", pace > 0 ? pace : step_of(cron->hours));
    if (pace == 0) {
        buffer_text(out, " from ");
        add_time(out, first_of(cron->hours), minute, second);
        buffer_text(out, " to ");
        add_time(out, last_of(cron->hours), minute, second);
    } else if (minute != 0 || second != 0) {
        buffer_printf(out, " at minute %d", minute);
        if (second != 0)
            buffer_printf(out, " and second %d", second);
    }
}

/* Within which hours; `says_all` is what is said of all of them. */
static void add_within_hours(struct buffer *out, uint64_t hours, const char *says_all)
{
    const int first = first_of(hours), last = last_of(hours);

    if (hours == HOURS_ALL) {
        buffer_text(out, says_all);
    } else if (last - first + 1 == count_of(hours)) {
        buffer_printf(out, " from %02d:00 to %02d:59", first, last);
    } else {
        buffer_text(out, " of ");
        add_counted(out, "hour", hours);
    }
}

/* One second of several minutes. */
static void add_minutes(struct buffer *out, const struct cron *cron)
{
    const int pace = pace_of(cron->minutes, 60);

    if (pace > 0) {
        add_pace(out, "minute", pace);
    } else {
        buffer_text(out, "at ");
        add_counted(out, "minute", cron->minutes);
    }
    if (cron->seconds != 1)
        buffer_printf(out, " at second %d", first_of(cron->seconds));
    add_within_hours(out, cron->hours, pace > 0 ? "" : " of every hour");
}

static void add_seconds(struct buffer *out, const struct cron *cron)
{
    const int pace = pace_of(cron->seconds, 60);
    const bool is_every_minute = cron->minutes == MINUTES_ALL;

    if (pace > 0) {
        add_pace(out, "second", pace);
    } else {
        buffer_text(out, "at ");
        add_counted(out, "second", cron->seconds);
    }
    if (!is_every_minute) {
        buffer_text(out, " of ");
        add_counted(out, "minute", cron->minutes);
    } else if (pace == 0) {
        buffer_text(out, " of every minute");
    }
    add_within_hours(out, cron->hours, is_every_minute ? "" : " of every hour");
}

/* All times of a day, or a pace? */
static bool is_listed(const struct cron *cron)
{
    const int hours = count_of(cron->hours), minutes = count_of(cron->minutes);

    if (count_of(cron->seconds) > 1)
        return false;
    if (minutes > 1)
        return minutes * hours <= TIMES_LISTED;
    return pace_of(cron->hours, 24) == 0 && (hours <= HOURS_LISTED || step_of(cron->hours) == 0);
}

static void add_dates(struct buffer *out, const struct cron *cron)
{
    add_counted(out, "day", cron->days);
    buffer_text(out, " of ");
    if (cron->months == MONTHS_ALL)
        buffer_text(out, "every month");
    else
        add_list(out, cron->months, &month_names);
}

static void add_months(struct buffer *out, uint64_t set)
{
    if (set == MONTHS_ALL)
        return;
    buffer_text(out, " in ");
    add_list(out, set, &month_names);
}

static void add_days(struct buffer *out, const struct cron *cron, bool says_every_day)
{
    /* Sunday comes last. */
    const uint64_t week = (cron->weekdays | (cron->weekdays & 1) << 7) & ~(uint64_t)1;
    const bool is_any_date = cron->days == DAYS_ALL,
               is_any_weekday = cron->weekdays == WEEKDAYS_ALL;

    if ((is_any_date && is_any_weekday) || (cron->either_day && (is_any_date || is_any_weekday))) {
        buffer_text(out, says_every_day ? " every day" : "");
        add_months(out, cron->months);
    } else if (is_any_date) {
        buffer_text(out, " on ");
        add_list(out, week, &weekday_names);
        add_months(out, cron->months);
    } else {
        buffer_text(out, " on ");
        add_dates(out, cron);
        if (is_any_weekday)
            return;
        buffer_text(out, cron->either_day ? " or on " : " if it is ");
        add_list(out, week, &weekday_names);
        if (cron->either_day)
            add_months(out, cron->months);
    }
}

void cron_describe(const struct cron *cron, struct buffer *out)
{
    const bool is_list = is_listed(cron);

    if (is_list)
        add_times(out, cron);
    else if (count_of(cron->seconds) > 1)
        add_seconds(out, cron);
    else if (count_of(cron->minutes) > 1)
        add_minutes(out, cron);
    else
        add_hours(out, cron);
    add_days(out, cron, is_list);
}
