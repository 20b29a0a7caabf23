/*
 * calendar.h - days and dates of the Gregorian calendar, in integers.
 *
 * Without the C library, whose time zones and ranges are not ours to choose. A day is counted from
 * 1970-01-01, which is day 0; days before it are negative.
 */
#ifndef BASE_CALENDAR_H
#define BASE_CALENDAR_H

#include "base/base.h"

#define SECONDS_PER_DAY ((int64_t)86400)

struct calendar_date {
    int64_t year;
    int month, day; /* from 1 */
};

/* a / b, rounded down even below zero; b is positive. */
int64_t calendar_divide(int64_t a, int64_t b);

bool calendar_is_leap_year(int64_t year);
int calendar_days_in_month(int64_t year, int month);

/* The month and the day must exist in that year. */
int64_t calendar_day(int64_t year, int month, int day);
struct calendar_date calendar_date(int64_t day);

int calendar_weekday(int64_t day); /* 0 is Sunday */

#endif
