/*
 * calendar.c - days and dates of the Gregorian calendar, in integers.
 */
#include "base/calendar.h"

#define FIRST_YEAR         1970
#define FIRST_WEEKDAY      4 /* day 0 was a Thursday */
#define DAYS_PER_400_YEARS 146097

int64_t calendar_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

bool calendar_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int calendar_days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && calendar_is_leap_year(year) ? 29 : days[month - 1];
}

/* Leap years from year 1 to `year`. */
static int64_t leap_years_until(int64_t year)
{
    return calendar_divide(year, 4) - calendar_divide(year, 100) + calendar_divide(year, 400);
}

static int64_t days_before_year(int64_t year)
{
    return 365 * (year - FIRST_YEAR) + leap_years_until(year - 1) -
           leap_years_until(FIRST_YEAR - 1);
}

int64_t calendar_day(int64_t year, int month, int day)
{
    int64_t days = days_before_year(year) + day - 1;

    for (int earlier = 1; earlier < month; earlier++)
        days += calendar_days_in_month(year, earlier);
    return days;
}

struct calendar_date calendar_date(int64_t day)
{
    /* The mean length of a year gives the year, or one of its neighbours. */
    struct calendar_date date = {
        .year = FIRST_YEAR + calendar_divide(day * 400, DAYS_PER_400_YEARS),
        .month = 1,
    };

    if (days_before_year(date.year) > day)
        date.year--;
    else if (days_before_year(date.year + 1) <= day)
        date.year++;

    int rest = (int)(day - days_before_year(date.year));
    while (rest >= calendar_days_in_month(date.year, date.month)) {
        rest -= calendar_days_in_month(date.year, date.month);
        date.month++;
    }
    date.day = rest + 1;
    return date;
}

int calendar_weekday(int64_t day)
{
    const int64_t days = day + FIRST_WEEKDAY;

    return (int)(days - calendar_divide(days, 7) * 7);
}
