/*
 * when.c - moments as people say them, and as they like to read them.
 *
 * Local times go through mktime(), which never refuses: it moves what does not exist. So each
 * answer is compared with what was asked, for summer time and for winter time. That finds no moment
 * in the hour that is skipped in spring and two in the hour that comes twice in autumn.
 */
#include "thctl/when.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TOMORROW  "tomorrow "
#define DATE_SIZE 10 /* characters of 2026-01-31 */

/* Clocks change at most once in this many days. */
#define DAYS_TO_TRY 3

static bool refuse_form(const char *text, struct error *err)
{
    char shown[EXCERPT_SIZE];

    return error_set(err, TH_E_INVALID, "'%s' is not a time: use " WHEN_FORMS,
                     excerpt_of(text, shown));
}

/* Exactly `count` digits, and then the character `end` ('\0' is the end of the text). */
static bool read_digits(const char **at, int count, char end, int *value_out)
{
    int value = 0;

    for (int i = 0; i < count; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        value = 10 * value + (**at - '0');
    }
    if (**at != end)
        return false;
    *at += end != '\0';
    *value_out = value;
    return true;
}

/* 9:00, 09:00 or 09:00:30. */
static bool read_clock(const char *text, struct tm *time_out)
{
    int digits = strcspn(text, ":") == 1 ? 1 : 2;

    time_out->tm_sec = 0;
    if (!read_digits(&text, digits, ':', &time_out->tm_hour))
        return false;
    if (!strchr(text, ':')) {
        if (!read_digits(&text, 2, '\0', &time_out->tm_min))
            return false;
    } else if (!read_digits(&text, 2, ':', &time_out->tm_min) ||
               !read_digits(&text, 2, '\0', &time_out->tm_sec)) {
        return false;
    }
    return time_out->tm_hour < 24 && time_out->tm_min < 60 && time_out->tm_sec < 60;
}

static bool is_same_time(const struct tm *a, const struct tm *b)
{
    return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday &&
           a->tm_hour == b->tm_hour && a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

/* The first moment after `after` at which the local clock shows `wanted`. */
static bool find_moment(const struct tm *wanted, usec_t after, usec_t *moment_out)
{
    usec_t best = USEC_MAX;

    for (int summer = 0; summer < 2; summer++) {
        struct tm tried = *wanted;
        tried.tm_isdst = summer;
        usec_t moment = (usec_t)mktime(&tried) * USEC_PER_SEC;
        if (is_same_time(&tried, wanted) && moment > after && moment < best)
            best = moment;
    }
    *moment_out = best;
    return best != USEC_MAX;
}

/* The date some days after today, at the hour of `wanted`. timegm() only carries days over. */
static void set_date(usec_t now, int days, struct tm *wanted)
{
    time_t seconds = (time_t)(now / USEC_PER_SEC);
    struct tm today;

    localtime_r(&seconds, &today);
    wanted->tm_year = today.tm_year;
    wanted->tm_mon = today.tm_mon;
    wanted->tm_mday = today.tm_mday + days;
    timegm(wanted);
}

static bool refuse_gap(const char *text, struct error *err)
{
    char shown[EXCERPT_SIZE];

    return error_set(err, TH_E_INVALID, "'%s' does not exist here: the clocks skip it that day",
                     excerpt_of(text, shown));
}

static bool parse_next(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    struct tm wanted = {0};

    if (!read_clock(text, &wanted))
        return refuse_form(text, err);
    for (int day = 0; day < DAYS_TO_TRY; day++) {
        set_date(now, day, &wanted);
        if (find_moment(&wanted, now, moment_out))
            return true;
    }
    return refuse_gap(text, err);
}

static bool parse_tomorrow(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    struct tm wanted = {0};

    if (!read_clock(text + strlen(TOMORROW), &wanted))
        return refuse_form(text, err);
    set_date(now, 1, &wanted);
    return find_moment(&wanted, 0, moment_out) || refuse_gap(text, err);
}

static bool read_date(const char *text, struct tm *date_out)
{
    if (!read_digits(&text, 4, '-', &date_out->tm_year) ||
        !read_digits(&text, 2, '-', &date_out->tm_mon) ||
        !read_digits(&text, 2, text[2], &date_out->tm_mday))
        return false;
    date_out->tm_year -= 1900;
    date_out->tm_mon -= 1;
    return true;
}

static bool parse_date(const char *text, usec_t *moment_out, struct error *err)
{
    struct tm wanted = {0};

    if (!read_date(text, &wanted) || !read_clock(text + DATE_SIZE + 1, &wanted))
        return refuse_form(text, err);

    struct tm carried = wanted;
    timegm(&carried);
    if (!is_same_time(&carried, &wanted))
        return error_set(err, TH_E_INVALID, "there is no day %.*s", DATE_SIZE, text);
    if (wanted.tm_year < 70)
        return error_set(err, TH_E_INVALID, "'%s' is before 1970", text);
    return find_moment(&wanted, 0, moment_out) || refuse_gap(text, err);
}

static bool has_date(const char *text)
{
    return strlen(text) > DATE_SIZE && text[4] == '-' && text[7] == '-' &&
           (text[DATE_SIZE] == ' ' || text[DATE_SIZE] == 'T' || text[DATE_SIZE] == 't');
}

/* Z or an offset: the minus of -05:00 comes after those of the date. */
static bool has_zone(const char *text)
{
    return strpbrk(text + DATE_SIZE + 1, "Zz+-") != NULL;
}

static bool parse_delay(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    usec_t delay;

    if (!units_parse_duration(text + 1, &delay, err))
        return false;
    *moment_out = now + delay;
    return true;
}

static bool parse_any(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    if (text[0] == '+')
        return parse_delay(text, now, moment_out, err);
    if (text_starts_with(text, TOMORROW))
        return parse_tomorrow(text, now, moment_out, err);
    if (!has_date(text))
        return parse_next(text, now, moment_out, err);
    return has_zone(text) ? timestamp_parse(text, moment_out, err)
                          : parse_date(text, moment_out, err);
}

bool when_parse(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    if (!parse_any(text, now, moment_out, err))
        return false;
    if (*moment_out > TIMESTAMP_MAX)
        return error_set(err, TH_E_INVALID, "'%s' is after the year 9999", text);
    return true;
}

static bool parse_ago(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    usec_t age;

    if (!units_parse_duration(text + 1, &age, err))
        return false;
    if (age >= now)
        return error_set(err, TH_E_INVALID, "'%s' is before 1970", text);
    *moment_out = now - age;
    return true;
}

static bool parse_last(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    struct tm wanted = {0};

    if (!read_clock(text, &wanted))
        return refuse_form(text, err);
    for (int day = 0; day < DAYS_TO_TRY; day++) {
        set_date(now, -day, &wanted);
        if (find_moment(&wanted, 0, moment_out) && *moment_out <= now)
            return true;
    }
    return refuse_gap(text, err);
}

bool when_parse_past(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    if (text[0] == '-')
        return parse_ago(text, now, moment_out, err);
    if (text[0] != '+' && !text_starts_with(text, TOMORROW) && !has_date(text))
        return parse_last(text, now, moment_out, err);
    return when_parse(text, now, moment_out, err);
}

const char *when_relative(usec_t moment, usec_t now, char text[WHEN_TEXT_SIZE])
{
    static const struct {
        usec_t length, limit;
        char name;
    } units[] = {
        {USEC_PER_SEC, USEC_PER_MIN, 's'},
        {USEC_PER_MIN, USEC_PER_HOUR, 'm'},
        {USEC_PER_HOUR, USEC_PER_DAY, 'h'},
        {USEC_PER_DAY, USEC_MAX, 'd'},
    };
    usec_t distance = moment > now ? moment - now : now - moment;
    usec_t count = 0;

    /* Rounded, so that a job for +5m is due "in 5m" a moment later, and never in 60s. */
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        count = (distance + units[i].length / 2) / units[i].length;
        snprintf(text, WHEN_TEXT_SIZE, "%s%" PRId64 "%c%s", moment > now ? "in " : "", count,
                 units[i].name, moment > now ? "" : " ago");
        if (count < units[i].limit / units[i].length)
            break;
    }
    if (count == 0)
        snprintf(text, WHEN_TEXT_SIZE, "now");
    return text;
}

const char *when_format(usec_t moment, usec_t now, char text[WHEN_TEXT_SIZE])
{
    time_t seconds = (time_t)(moment / USEC_PER_SEC);
    char relative[WHEN_TEXT_SIZE];
    struct tm local;

    localtime_r(&seconds, &local);
    size_t length = strftime(text, WHEN_TEXT_SIZE, "%Y-%m-%d %H:%M:%S %z", &local);
    snprintf(text + length, WHEN_TEXT_SIZE - length, " (%s)", when_relative(moment, now, relative));
    return text;
}
