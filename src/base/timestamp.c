/*
 * timestamp.c - moments as RFC 3339 text, exact to the microsecond.
 *
 * Dates are counted in days since 1970-01-01 of the Gregorian calendar, in integers and without
 * the C library, whose time zones and ranges are not ours to choose. Formatting works for every
 * usec_t; parsing only for the moments that a job may have.
 */
#include "base/timestamp.h"

#include "base/error.h"
#include "base/excerpt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define FIRST_YEAR         1970
#define DAYS_PER_400_YEARS 146097

struct civil {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second, microsecond;
    int offset; /* of local time, minutes east of UTC */
};

/* Rounds down, also below zero. */
static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

/* Leap years from year 1 to `year`. */
static int64_t leap_years_until(int64_t year)
{
    return floor_divide(year, 4) - floor_divide(year, 100) + floor_divide(year, 400);
}

static int64_t days_before_year(int64_t year)
{
    return 365 * (year - FIRST_YEAR) + leap_years_until(year - 1) -
           leap_years_until(FIRST_YEAR - 1);
}

static int64_t days_before(const struct civil *civil)
{
    int64_t days = days_before_year(civil->year) + civil->day - 1;

    for (int month = 1; month < civil->month; month++)
        days += days_in_month(civil->year, month);
    return days;
}

static void set_date(struct civil *civil, int64_t days)
{
    /* The mean length of a year gives the year, or one of its neighbours. */
    civil->year = FIRST_YEAR + floor_divide(days * 400, DAYS_PER_400_YEARS);
    if (days_before_year(civil->year) > days)
        civil->year--;
    else if (days_before_year(civil->year + 1) <= days)
        civil->year++;

    int rest = (int)(days - days_before_year(civil->year));
    civil->month = 1;
    while (rest >= days_in_month(civil->year, civil->month)) {
        rest -= days_in_month(civil->year, civil->month);
        civil->month++;
    }
    civil->day = rest + 1;
}

static struct civil civil_of(usec_t moment)
{
    const int64_t days = floor_divide(moment, USEC_PER_DAY);
    const usec_t rest = (moment % USEC_PER_DAY + USEC_PER_DAY) % USEC_PER_DAY;
    struct civil civil = {
        .hour = (int)(rest / USEC_PER_HOUR),
        .minute = (int)(rest / USEC_PER_MIN % 60),
        .second = (int)(rest / USEC_PER_SEC % 60),
        .microsecond = (int)(rest % USEC_PER_SEC),
    };

    set_date(&civil, days);
    return civil;
}

static usec_t moment_of(const struct civil *civil)
{
    return days_before(civil) * USEC_PER_DAY + civil->hour * USEC_PER_HOUR +
           (civil->minute - civil->offset) * USEC_PER_MIN + civil->second * USEC_PER_SEC +
           civil->microsecond;
}

const char *timestamp_format(usec_t moment, char text[TIMESTAMP_SIZE])
{
    const struct civil civil = civil_of(moment);
    const int length =
        snprintf(text, TIMESTAMP_SIZE, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d.%06dZ", civil.year,
                 civil.month, civil.day, civil.hour, civil.minute, civil.second, civil.microsecond);

    assert(length < TIMESTAMP_SIZE);
    return text;
}

/* The functions below read one part, step over it, and say whether it was there. */

static bool read_number(const char **at, size_t digits, int *number_out)
{
    *number_out = 0;
    for (size_t i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *number_out = *number_out * 10 + (**at - '0');
    }
    return true;
}

static bool read_one_of(const char **at, const char *choice)
{
    if (**at == '\0' || !strchr(choice, **at))
        return false;
    (*at)++;
    return true;
}

static bool read_date(const char **at, struct civil *civil)
{
    int year = 0;
    const bool found = read_number(at, 4, &year) && read_one_of(at, "-") &&
                       read_number(at, 2, &civil->month) && read_one_of(at, "-") &&
                       read_number(at, 2, &civil->day);

    civil->year = year;
    return found;
}

/* One to nine decimals; what is finer than a microsecond is cut off. Absent is fine. */
static bool read_fraction(const char **at, int *microsecond_out)
{
    int digit = 0, count = 0;

    *microsecond_out = 0;
    if (!read_one_of(at, "."))
        return true;
    for (int weight = 100000; count < 9 && read_number(at, 1, &digit); weight /= 10, count++)
        *microsecond_out += digit * weight;
    return count > 0;
}

static bool read_time(const char **at, struct civil *civil)
{
    return read_number(at, 2, &civil->hour) && read_one_of(at, ":") &&
           read_number(at, 2, &civil->minute) && read_one_of(at, ":") &&
           read_number(at, 2, &civil->second) && read_fraction(at, &civil->microsecond);
}

/* An offset out of range becomes one of more than a day, for find_fault() to see. */
static bool read_offset(const char **at, int *offset_out)
{
    int hours = 0, minutes = 0;

    *offset_out = 0;
    if (read_one_of(at, "Zz"))
        return true;
    const int sign = **at == '-' ? -1 : 1;
    if (!read_one_of(at, "+-") || !read_number(at, 2, &hours) || !read_one_of(at, ":") ||
        !read_number(at, 2, &minutes))
        return false;
    *offset_out = sign * (minutes < 60 ? hours * 60 + minutes : 100 * 60);
    return true;
}

/* What is wrong with the numbers; NULL when nothing is. */
static const char *find_fault(const struct civil *civil)
{
    if (civil->year < FIRST_YEAR)
        return "years go from 1970 to 9999";
    if (civil->month < 1 || civil->month > 12)
        return "months go from 01 to 12";
    if (civil->day < 1 || civil->day > days_in_month(civil->year, civil->month))
        return "that month has no such day";
    if (civil->hour > 23)
        return "hours go from 00 to 23";
    if (civil->minute > 59)
        return "minutes go from 00 to 59";
    if (civil->second > 59)
        return "seconds go from 00 to 59";
    if (civil->offset <= -24 * 60 || civil->offset >= 24 * 60)
        return "offsets go up to 23:59";
    const usec_t moment = moment_of(civil);
    if (moment <= 0 || moment > TIMESTAMP_MAX)
        return "in UTC it is not within 1970 to 9999";
    return NULL;
}

bool timestamp_parse(const char *text, usec_t *moment_out, struct error *err)
{
    struct civil civil = {0};
    const char *at = text;
    char shown[EXCERPT_SIZE];

    if (!read_date(&at, &civil) || !read_one_of(&at, "Tt ") || !read_time(&at, &civil) ||
        !read_offset(&at, &civil.offset) || *at != '\0')
        return error_set(err, TH_E_INVALID,
                         "'%s' is not a time: write it as 2030-01-02T03:04:05Z, or with an offset "
                         "such as +01:00",
                         excerpt_of(text, shown));

    const char *fault = find_fault(&civil);
    if (fault)
        return error_set(err, TH_E_INVALID, "'%s' is not a time: %s", excerpt_of(text, shown),
                         fault);
    *moment_out = moment_of(&civil);
    return true;
}
