/*
 * timestamp.c - moments as RFC 3339 text, exact to the microsecond.
 *
 * Formatting works for every usec_t; parsing only for the moments that a job may have.
 */
#include "base/timestamp.h"

#include "base/calendar.h"
#include "base/error.h"
#include "base/excerpt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define FIRST_YEAR 1970

struct civil {
    struct calendar_date date;
    int hour, minute, second, microsecond;
    int offset; /* of local time, minutes east of UTC */
};

static struct civil civil_of(usec_t moment)
{
    const usec_t rest = (moment % USEC_PER_DAY + USEC_PER_DAY) % USEC_PER_DAY;

    return (struct civil){
        .date = calendar_date(calendar_divide(moment, USEC_PER_DAY)),
        .hour = (int)(rest / USEC_PER_HOUR),
        .minute = (int)(rest / USEC_PER_MIN % 60),
        .second = (int)(rest / USEC_PER_SEC % 60),
        .microsecond = (int)(rest % USEC_PER_SEC),
    };
}

static usec_t moment_of(const struct civil *civil)
{
    const struct calendar_date *date = &civil->date;

    return calendar_day(date->year, date->month, date->day) * USEC_PER_DAY +
           civil->hour * USEC_PER_HOUR + (civil->minute - civil->offset) * USEC_PER_MIN +
           civil->second * USEC_PER_SEC + civil->microsecond;
}

const char *timestamp_format(usec_t moment, char text[TIMESTAMP_SIZE])
{
    const struct civil civil = civil_of(moment);
    const int length =
        snprintf(text, TIMESTAMP_SIZE, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d.%06dZ",
                 civil.date.year, civil.date.month, civil.date.day, civil.hour, civil.minute,
                 civil.second, civil.microsecond);

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
                       read_number(at, 2, &civil->date.month) && read_one_of(at, "-") &&
                       read_number(at, 2, &civil->date.day);

    civil->date.year = year;
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
    if (civil->date.year < FIRST_YEAR)
        return "years go from 1970 to 9999";
    if (civil->date.month < 1 || civil->date.month > 12)
        return "months go from 01 to 12";
    if (civil->date.day < 1 ||
        civil->date.day > calendar_days_in_month(civil->date.year, civil->date.month))
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
