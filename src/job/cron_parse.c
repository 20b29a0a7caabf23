/*
 * cron_parse.c - a schedule as people write it.
 */
#include "job/cron_parse.h"

#include "base/calendar.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BLANKS      " \t\n"
#define FIELDS_MAX  6
#define FIELDS_MIN  5
#define WORD_SIZE   16 /* of one number, name or @word */
#define NAME_LENGTH 3
#define LEAP_YEAR   2024

enum {
    SECOND,
    MINUTE,
    HOUR,
    DAY,
    MONTH,
    WEEKDAY,
};

/* clang-format off */
static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG",
                                          "SEP", "OCT", "NOV", "DEC"};
static const char *const weekday_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

static const struct unit {
    const char *name;
    int min, max;
    const char *range;        /* for people */
    const char *const *names; /* of the numbers from min on; NULL: none */
    size_t name_count;
} units[FIELDS_MAX] = {
    [SECOND]  = {"second", 0, 59, "0 to 59", NULL, 0},
    [MINUTE]  = {"minute", 0, 59, "0 to 59", NULL, 0},
    [HOUR]    = {"hour", 0, 23, "0 to 23", NULL, 0},
    [DAY]     = {"day of month", 1, 31, "1 to 31", NULL, 0},
    [MONTH]   = {"month", 1, 12, "1 to 12, or JAN to DEC", month_names, COUNT_OF(month_names)},
    [WEEKDAY] = {"day of week", 0, 7, "0 to 7, or SUN to SAT", weekday_names, COUNT_OF(weekday_names)},
};

static const struct {
    const char *word, *schedule;
} words[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};
/* clang-format on */

/* A part of the text. */
struct part {
    const char *start;
    size_t length;
};

/* One field, read. */
struct field {
    uint64_t set;
    bool is_star; /* starts with a star */
    bool repeats; /* has a star or a step */
};

static const char *show(struct part part, char shown[EXCERPT_SIZE])
{
    char text[EXCERPT_SIZE + 1];
    const size_t length = part.length < EXCERPT_SIZE ? part.length : EXCERPT_SIZE;

    memcpy(text, part.start, length);
    text[length] = '\0';
    return excerpt_of(text, shown);
}

static bool refuse(const struct unit *unit, struct part part, const char *reason, struct error *err)
{
    char shown[EXCERPT_SIZE];

    return error_set(err, TH_E_INVALID, "%s '%s' %s", unit->name, show(part, shown), reason);
}

static bool refuse_value(const struct unit *unit, struct part part, struct error *err)
{
    char shown[EXCERPT_SIZE];

    return error_set(err, TH_E_INVALID, "%s '%s' is not within %s", unit->name, show(part, shown),
                     unit->range);
}

/* Cuts off what stands before `mark`; false, and nothing is cut off, when there is no mark. */
static bool cut(struct part *rest, char mark, struct part *before_out)
{
    const char *found = memchr(rest->start, mark, rest->length);

    if (!found)
        return false;
    *before_out = (struct part){rest->start, (size_t)(found - rest->start)};
    rest->length -= before_out->length + 1;
    rest->start = found + 1;
    return true;
}

static bool is_star(struct part part)
{
    return part.length == 1 && part.start[0] == '*';
}

static bool find_name(const struct unit *unit, struct part part, int *number_out)
{
    for (size_t i = 0; i < unit->name_count; i++) {
        if (part.length != NAME_LENGTH || strncasecmp(part.start, unit->names[i], NAME_LENGTH) != 0)
            continue;
        *number_out = unit->min + (int)i;
        return true;
    }
    return false;
}

static bool read_number(struct part part, int min, int max, int *number_out)
{
    char text[WORD_SIZE];
    int64_t number;

    if (part.length >= sizeof text || part.length == 0)
        return false;
    memcpy(text, part.start, part.length);
    text[part.length] = '\0';
    if (!text_to_int(text, min, max, &number))
        return false;
    *number_out = (int)number;
    return true;
}

static bool read_value(const struct unit *unit, struct part part, int *value_out, struct error *err)
{
    return find_name(unit, part, value_out) || read_number(part, unit->min, unit->max, value_out) ||
           refuse_value(unit, part, err);
}

/* FRI-SUN is a range as good as FRI-7. */
static bool read_last(const struct unit *unit, struct part part, int *value_out, struct error *err)
{
    if (!read_value(unit, part, value_out, err))
        return false;
    if (unit == &units[WEEKDAY] && *value_out == 0 && isalpha((unsigned char)part.start[0]))
        *value_out = unit->max;
    return true;
}

/* A star, a number, a name, or a range of two. */
static bool read_range(const struct unit *unit, struct part part, int *first_out, int *last_out,
                       struct error *err)
{
    struct part first, last = part;

    if (is_star(part)) {
        *first_out = unit->min;
        *last_out = unit == &units[WEEKDAY] ? unit->max - 1 : unit->max;
        return true;
    }
    if (!cut(&last, '-', &first)) {
        const bool is_value = read_value(unit, part, first_out, err);
        *last_out = *first_out;
        return is_value;
    }
    if (!read_value(unit, first, first_out, err) || !read_last(unit, last, last_out, err))
        return false;
    return *first_out <= *last_out || refuse(unit, part, "runs backwards", err);
}

static bool read_step(const struct unit *unit, struct part whole, struct part range,
                      struct part step, int *step_out, struct error *err)
{
    if (!is_star(range) && !memchr(range.start, '-', range.length))
        return refuse(unit, whole, "has a step but no range: write it as FIRST-LAST/STEP", err);
    return read_number(step, 1, unit->max, step_out) ||
           refuse(unit, whole, "has no step that can be used", err);
}

static bool read_item(const struct unit *unit, struct part item, struct field *field,
                      struct error *err)
{
    struct part range = item, step = item;
    int first = 0, last = 0, every = 1;
    const bool has_step = cut(&step, '/', &range);

    if (has_step && !read_step(unit, item, range, step, &every, err))
        return false;
    if (!read_range(unit, range, &first, &last, err))
        return false;
    for (int number = first; number <= last; number += every)
        field->set |= (uint64_t)1 << number;
    field->repeats |= has_step || is_star(range);
    return true;
}

static bool read_field(const struct unit *unit, struct part rest, struct field *field_out,
                       struct error *err)
{
    struct field field = {.is_star = rest.start[0] == '*'};
    struct part item;

    while (cut(&rest, ',', &item)) {
        if (!read_item(unit, item, &field, err))
            return false;
    }
    *field_out = field;
    return read_item(unit, rest, field_out, err);
}

/* How many there are; those beyond FIELDS_MAX are only counted. */
static size_t split(const char *text, struct part parts[FIELDS_MAX])
{
    size_t count = 0;

    for (const char *at = text + strspn(text, BLANKS); *at != '\0'; at += strspn(at, BLANKS)) {
        const struct part part = {at, strcspn(at, BLANKS)};

        if (count < FIELDS_MAX)
            parts[count] = part;
        count++;
        at += part.length;
    }
    return count;
}

/* A word stands for a schedule; any other text is one. */
static bool replace_word(const char *text, const char **schedule_out, struct error *err)
{
    const char *names[COUNT_OF(words)];
    char shown[EXCERPT_SIZE];

    *schedule_out = text;
    if (text[0] != '@')
        return true;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        names[i] = words[i].word;
        *schedule_out = words[i].schedule;
        if (strcasecmp(text, words[i].word) == 0)
            return true;
    }
    const char *closest = text_closest(text, names, COUNT_OF(names));
    excerpt_of(text, shown);
    if (closest)
        return error_set(err, TH_E_INVALID, "'%s' is not a schedule (did you mean '%s'?)", shown,
                         closest);
    return error_set(err, TH_E_INVALID,
                     "'%s' is not a schedule: use @yearly, @monthly, @weekly, @daily or @hourly",
                     shown);
}

static bool can_come(const struct cron *cron)
{
    if (cron->either_day)
        return true;
    for (int month = 1; month <= 12; month++) {
        const int length = calendar_days_in_month(LEAP_YEAR, month);
        const uint64_t days = ((uint64_t)2 << length) - 2;

        if ((cron->months >> month & 1) != 0 && (cron->days & days) != 0)
            return true;
    }
    return false;
}

static struct cron combine(const struct field fields[FIELDS_MAX])
{
    const uint64_t weekdays = fields[WEEKDAY].set;

    return (struct cron){
        .seconds = fields[SECOND].set,
        .minutes = fields[MINUTE].set,
        .hours = fields[HOUR].set,
        .days = fields[DAY].set,
        .months = fields[MONTH].set,
        .weekdays = (weekdays | weekdays >> 7) & 0x7f,
        .hours_repeat = fields[HOUR].repeats,
        .either_day = !fields[DAY].is_star && !fields[WEEKDAY].is_star,
    };
}

bool cron_parse(const char *text, struct cron *cron_out, struct error *err)
{
    struct part parts[FIELDS_MAX];
    struct field fields[FIELDS_MAX] = {[SECOND] = {.set = 1}};

    if (!replace_word(text + strspn(text, BLANKS), &text, err))
        return false;
    const size_t count = split(text, parts);
    if (count != FIELDS_MIN && count != FIELDS_MAX)
        return error_set(err, TH_E_INVALID,
                         "a schedule has five fields, minute, hour, day of month, month and day of "
                         "week, or six with the second before them; this one has %zu",
                         count);
    const size_t first = FIELDS_MAX - count;
    for (size_t i = first; i < FIELDS_MAX; i++) {
        if (!read_field(&units[i], parts[i - first], &fields[i], err))
            return false;
    }
    *cron_out = combine(fields);
    return can_come(cron_out) ||
           error_set(err, TH_E_INVALID, "this never comes: none of its months has such a day");
}
