/*
 * units.c - numbers as people write them: 500ms 10s 5m 2h 7d, 64K 512M 1G, 100/s.
 *
 * All in integers: 0.1s is 100000 microseconds and nothing near it. What is formatted is cut, not
 * rounded, so that 59.99 seconds do not read as a minute.
 */
#include "base/units.h"

#include "base/error.h"
#include "base/excerpt.h"

#include <stdio.h>
#include <string.h>

#define DURATION_MAX  (36500 * USEC_PER_DAY) /* 100 years */
#define SIZE_BITS_MAX 50                     /* 1024T */
#define RATE_MAX      1000000000
#define DIGITS        "0123456789"

/* The most decimals that fit an int64_t. No unit has a use for as many. */
#define DECIMALS_MAX 18

/* clang-format off */
static const struct unit {
    const char *name;
    usec_t length;
} units[] = {
    {"us", 1},
    {"ms", USEC_PER_MSEC},
    {"s",  USEC_PER_SEC},
    {"m",  USEC_PER_MIN},
    {"h",  USEC_PER_HOUR},
    {"d",  USEC_PER_DAY},
};
/* clang-format on */

/* "1.5h" taken apart. */
struct parts {
    const char *whole, *fraction;
    size_t whole_digits, fraction_digits;
    usec_t unit; /* its length */
};

/* 0 for a name that is not a unit. */
static usec_t unit_length(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(units[i].name, name) == 0)
            return units[i].length;
    }
    return 0;
}

static bool split(const char *text, struct parts *parts_out)
{
    struct parts parts = {.whole = text, .whole_digits = strspn(text, DIGITS)};
    const char *unit = text + parts.whole_digits;

    if (*unit == '.') {
        parts.fraction = unit + 1;
        parts.fraction_digits = strspn(parts.fraction, DIGITS);
        if (parts.fraction_digits == 0)
            return false;
        unit = parts.fraction + parts.fraction_digits;
    }
    parts.unit = strcmp(text, "0") == 0 ? 1 : unit_length(unit);
    *parts_out = parts;
    return parts.whole_digits > 0 && parts.unit > 0;
}

/* Stops counting once it is above `max`. */
static int64_t read_number(const char *digits, size_t count, int64_t max)
{
    int64_t number = 0;

    for (size_t i = 0; i < count && number <= max; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The fraction of the unit in microseconds; false when it is finer than that. */
static bool read_fraction(const struct parts *parts, usec_t *duration_out)
{
    size_t digits = parts->fraction_digits;

    while (digits > 0 && parts->fraction[digits - 1] == '0')
        digits--;
    if (digits > DECIMALS_MAX)
        return false;

    int64_t scale = 1;
    for (size_t i = 0; i < digits; i++)
        scale *= 10;
    const int64_t number = read_number(parts->fraction, digits, INT64_MAX / 10);

    /* In lowest terms, number / scale * unit is whole only if the unit is a multiple of scale, and
     * computed in this order it stays below one unit. */
    const int64_t divisor = common_divisor(scale, number);
    if (parts->unit % (scale / divisor) != 0)
        return false;
    *duration_out = number / divisor * (parts->unit / (scale / divisor));
    return true;
}

static bool refuse_as(const char *what, const char *text, const char *reason, struct error *err)
{
    char shown[EXCERPT_SIZE];

    return error_set(err, TH_E_INVALID, "'%s' is not a %s: %s", excerpt_of(text, shown), what,
                     reason);
}

static bool refuse(const char *text, const char *reason, struct error *err)
{
    return refuse_as("duration", text, reason, err);
}

bool units_parse_duration(const char *text, usec_t *duration_out, struct error *err)
{
    struct parts parts;
    usec_t fraction = 0;

    if (text[0] == '-' && split(text + 1, &parts))
        return refuse(text, "it is negative", err);
    if (!split(text, &parts))
        return refuse(text, "write a number and a unit, such as 500ms, 10s, 5m, 2h or 7d", err);
    if (!read_fraction(&parts, &fraction))
        return refuse(text, "it is finer than a microsecond", err);

    const usec_t whole_max = (DURATION_MAX - fraction) / parts.unit;
    const int64_t whole = read_number(parts.whole, parts.whole_digits, whole_max);
    if (whole > whole_max)
        return refuse(text, "it is longer than 100 years", err);
    *duration_out = whole * parts.unit + fraction;
    return true;
}

/* How many bits a size is shifted by its unit; -1 for one that is not a unit. */
static int size_shift(const char *unit)
{
    static const char letters[] = "KMGT";
    const char *found = unit[0] == '\0' ? NULL : strchr(letters, unit[0]);

    if (unit[0] == '\0')
        return 0;
    return !found || unit[1] != '\0' ? -1 : (int)(found - letters + 1) * 10;
}

bool units_parse_size(const char *text, bytes_t *size_out, struct error *err)
{
    const size_t digits = strspn(text, DIGITS);
    const int shift = size_shift(text + digits);

    if (text[0] == '-' && strspn(text + 1, DIGITS) > 0)
        return refuse_as("size", text, "it is negative", err);
    if (digits == 0 || shift < 0)
        return refuse_as("size", text,
                         "write a number of bytes, or of K, M or G, such as 64K, 512M or 1G", err);

    const int64_t max = (int64_t)1 << (SIZE_BITS_MAX - shift);
    const int64_t number = read_number(text, digits, max);
    if (number > max)
        return refuse_as("size", text, "it is larger than 1024T", err);
    *size_out = (bytes_t)number << shift;
    return true;
}

bool units_parse_rate(const char *text, struct units_rate *rate_out, struct error *err)
{
    const size_t digits = strspn(text, DIGITS);
    const usec_t period = text[digits] == '/' ? unit_length(text + digits + 1) : 0;

    if (digits == 0 || period < USEC_PER_SEC)
        return refuse_as("rate", text, "write a number per s, m, h or d, such as 100/s or 10/m",
                         err);
    const int64_t count = read_number(text, digits, RATE_MAX);
    if (count < 1 || count > RATE_MAX)
        return refuse_as("rate", text, "use 1 to 1000000000", err);
    *rate_out = (struct units_rate){count, period};
    return true;
}

const char *units_format_rate(const struct units_rate *rate, char text[UNITS_TEXT_SIZE])
{
    size_t i = COUNT_OF(units) - 1;

    while (i > 0 && units[i].length > rate->period)
        i--;
    snprintf(text, UNITS_TEXT_SIZE, "%" PRId64 "/%s", rate->count, units[i].name);
    return text;
}

/* One decimal, if it is not zero. */
static void format_decimal(uint64_t tenths, const char *unit, const char *sign,
                           char text[UNITS_TEXT_SIZE])
{
    if (tenths % 10 == 0)
        snprintf(text, UNITS_TEXT_SIZE, "%s%" PRIu64 "%s", sign, tenths / 10, unit);
    else
        snprintf(text, UNITS_TEXT_SIZE, "%s%" PRIu64 ".%u%s", sign, tenths / 10,
                 (unsigned)(tenths % 10), unit);
}

/* A unit and the one below it, if that is not zero. */
static void format_pair(uint64_t length, const struct unit *unit, const char *sign,
                        char text[UNITS_TEXT_SIZE])
{
    const struct unit *below = unit - 1;
    const uint64_t large = length / (uint64_t)unit->length;
    const uint64_t small = length % (uint64_t)unit->length / (uint64_t)below->length;

    if (small == 0)
        snprintf(text, UNITS_TEXT_SIZE, "%s%" PRIu64 "%s", sign, large, unit->name);
    else
        snprintf(text, UNITS_TEXT_SIZE, "%s%" PRIu64 "%s %" PRIu64 "%s", sign, large, unit->name,
                 small, below->name);
}

const char *units_format_duration(usec_t duration, char text[UNITS_TEXT_SIZE])
{
    const char *sign = duration < 0 ? "-" : "";
    const uint64_t length = duration < 0 ? -(uint64_t)duration : (uint64_t)duration;
    size_t i = COUNT_OF(units) - 1;

    while (i > 0 && length < (uint64_t)units[i].length)
        i--;
    if (length == 0)
        snprintf(text, UNITS_TEXT_SIZE, "0s");
    else if (length < (uint64_t)USEC_PER_MIN)
        format_decimal(length * 10 / (uint64_t)units[i].length, units[i].name, sign, text);
    else
        format_pair(length, &units[i], sign, text);
    return text;
}

const char *units_format_size(uint64_t size, char text[UNITS_TEXT_SIZE])
{
    static const char prefixes[] = "KMGTPE";
    size_t i = 0;

    if (size < 1024) {
        snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 " B", size);
        return text;
    }
    while (size >= (uint64_t)1024 * 1024) {
        size /= 1024;
        i++;
    }
    snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 ".%u %ciB", size / 1024,
             (unsigned)(size % 1024 * 10 / 1024), prefixes[i]);
    return text;
}
