/*
 * fields.c - a table of names fills a struct.
 *
 * A value of a query is text, one of a body is JSON; from there on both are read alike.
 */
#include "api/fields.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/units.h"
#include "http/query.h"
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTER_MAX 512
#define NAMES_MAX   256 /* of a table, to guess what was meant */

/* One value on its way into its member. */
struct reading {
    const struct value_field *field;
    const char *pointer; /* what errors call it */
    const char *text;    /* decoded; NULL: it is neither a text nor in a query */
    struct bytes json;   /* as written; absent in a query */
    usec_t now;
    void *member;
    struct problems *problems;
};

#define refuse(reading, ...) problems_add((reading)->problems, (reading)->pointer, __VA_ARGS__)

/* ---- scalars ---- */

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static void read_text(const struct reading *reading)
{
    const int64_t max = reading->field->max;

    if (!reading->text)
        refuse(reading, "has to be a text");
    else if (!text_is_utf8(bytes_of(reading->text)))
        refuse(reading, "is not UTF-8");
    else if (max > 0 && strlen(reading->text) > (size_t)max)
        refuse(reading, "has more than %" PRId64 " bytes", max);
    else
        *(const char **)reading->member = reading->text;
}

static bool name_is_fine(const struct reading *reading, const char *name)
{
    const int64_t max = reading->field->max > 0 ? reading->field->max : JOB_NAME_MAX;
    struct error err;

    if (reading->field->kind != VALUE_IS_NAMES && job_name_check(name, (size_t)max, &err))
        return true;
    if (reading->field->kind == VALUE_IS_NAMES && job_name_check(name, JOB_NAME_MAX, &err))
        return true;
    refuse(reading, "%s", err.text);
    return false;
}

static void read_name(const struct reading *reading)
{
    if (!reading->text)
        refuse(reading, "has to be a text");
    else if (name_is_fine(reading, reading->text))
        *(const char **)reading->member = reading->text;
}

static void read_id(const struct reading *reading)
{
    if (!reading->text || !uuid_parse(reading->text, reading->member))
        refuse(reading, "is not the id of a job, such as 0193f0a2-7c1d-7abc-8def-0123456789ab");
}

static void read_number(const struct reading *reading)
{
    const int64_t min = reading->field->min, max = reading->field->max;
    int64_t number;

    const bool is_read = reading->json.data
                             ? json_to_int(reading->json, &number)
                             : text_to_int(reading->text, INT64_MIN, INT64_MAX, &number);
    if (!is_read || number < min || number > max)
        refuse(reading, "has to be a whole number from %" PRId64 " to %" PRId64, min, max);
    else
        *(int64_t *)reading->member = number;
}

static void read_flag(const struct reading *reading)
{
    const char *text = reading->text;
    bool flag = false;

    if (reading->json.data && !json_to_bool(reading->json, &flag))
        refuse(reading, "has to be true or false");
    else if (!reading->json.data && !text_equal(text, "true") && !text_equal(text, "1") &&
             !text_equal(text, "false") && !text_equal(text, "0"))
        refuse(reading, "has to be true or false");
    else
        *(bool *)reading->member =
            reading->json.data ? flag : text_equal(text, "true") || text_equal(text, "1");
}

/* A number has no unit: it is seconds. */
static bool duration_of(const struct reading *reading, usec_t *duration_out, struct error *err)
{
    const char *text = reading->text ? reading->text : (const char *)reading->json.data;
    const int length = (int)(reading->text ? strlen(text) : reading->json.length);
    const bool is_number = length > 0 && strspn(text, "0123456789.") >= (size_t)length;
    char written[UNITS_TEXT_SIZE];

    if (length == 0 || length > UNITS_TEXT_SIZE - 2)
        return error_set(err, TH_E_INVALID, "has to be a duration such as \"30s\"");
    snprintf(written, sizeof written, "%.*s%s", length, text, is_number ? "s" : "");
    return units_parse_duration(written, duration_out, err);
}

static void read_duration(const struct reading *reading)
{
    const struct value_field *field = reading->field;
    char least[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
    usec_t duration;
    struct error err;

    for (usec_t i = 0; reading->text && field->words && field->words[i]; i++) {
        if (text_equal(field->words[i], reading->text)) {
            *(usec_t *)reading->member = -1 - i;
            return;
        }
    }
    if (!duration_of(reading, &duration, &err))
        refuse(reading, "%s", err.text);
    else if (duration < field->min || duration > field->max)
        refuse(reading, "has to be a duration from %s to %s",
               units_format_duration(field->min, least), units_format_duration(field->max, most));
    else
        *(usec_t *)reading->member = duration;
}

static bool moment_of(const char *text, usec_t now, usec_t *moment_out, struct error *err)
{
    usec_t distance;

    if (text[0] != '+' && text[0] != '-')
        return timestamp_parse(text, moment_out, err);
    if (!units_parse_duration(text + 1, &distance, err))
        return false;
    if (text[0] == '-' ? distance >= now : distance > TIMESTAMP_MAX - now)
        return error_set(err, TH_E_INVALID, "'%s' is no moment that a job may have", text);
    *moment_out = text[0] == '-' ? now - distance : now + distance;
    return true;
}

static void read_moment(const struct reading *reading)
{
    struct error err;

    if (!reading->text)
        refuse(reading, "has to be a time, such as \"2026-01-31T10:00:00Z\" or \"-1h\"");
    else if (!moment_of(reading->text, reading->now, reading->member, &err))
        refuse(reading, "%s", err.text);
}

static void refuse_word(const struct reading *reading)
{
    char list[256] = "";

    for (const char *const *word = reading->field->words; *word; word++) {
        const size_t length = strlen(list);

        snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? ", " : "", *word);
    }
    refuse(reading, "has to be one of: %s", list);
}

static void read_word(const struct reading *reading)
{
    const char *const *words = reading->field->words;

    for (int i = 0; reading->text && words[i]; i++) {
        if (text_equal(words[i], reading->text)) {
            *(int *)reading->member = i;
            return;
        }
    }
    refuse_word(reading);
}

/* ---- lists ---- */

/* The parts of "a,b,c". */
static bool split_commas(const struct reading *reading, const char ***items_out, size_t *count_out)
{
    struct arena *arena = reading->problems->arena;
    size_t count = 1;

    for (const char *at = reading->text; *at; at++)
        count += *at == ',';
    const char **items = arena_alloc(arena, count * sizeof *items);
    const char *start = reading->text;

    for (size_t i = 0; items && i < count; i++) {
        const size_t length = strcspn(start, ",");

        items[i] = arena_text_of(arena, start, length);
        start += length + 1;
    }
    *items_out = items;
    *count_out = items ? count : 0;
    return items != NULL;
}

static bool split_array(const struct reading *reading, const char ***items_out, size_t *count_out)
{
    struct arena *arena = reading->problems->arena;
    struct json_values values;
    struct error err;

    if (!json_split_array(reading->json, arena, &values, &err)) {
        refuse(reading, "has to be a list of texts");
        return false;
    }
    const char **items = arena_alloc(arena, (values.count + 1) * sizeof *items);

    for (size_t i = 0; items && i < values.count; i++) {
        if (!json_to_text(values.items[i], arena, &items[i])) {
            refuse(reading, "has to be a list of texts");
            return false;
        }
    }
    *items_out = items;
    *count_out = items ? values.count : 0;
    return items != NULL;
}

static bool read_list(const struct reading *reading, const char ***items_out, size_t *count_out)
{
    const int64_t min = reading->field->min, max = reading->field->max;
    const bool is_read = reading->json.data ? split_array(reading, items_out, count_out)
                                            : split_commas(reading, items_out, count_out);

    if (is_read && ((int64_t)*count_out < min || (int64_t)*count_out > max)) {
        refuse(reading, "has to have %" PRId64 " to %" PRId64 " entries", min, max);
        return false;
    }
    return is_read;
}

static void read_names(const struct reading *reading)
{
    const char **items;
    size_t count;

    if (!read_list(reading, &items, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!name_is_fine(reading, items[i]))
            return;
    }
    *(struct value_texts *)reading->member = (struct value_texts){items, count};
}

static void read_ids(const struct reading *reading)
{
    const char **items;
    size_t count;

    if (!read_list(reading, &items, &count))
        return;
    struct uuid *ids = arena_alloc(reading->problems->arena, (count + 1) * sizeof *ids);

    for (size_t i = 0; ids && i < count; i++) {
        if (!uuid_parse(items[i], &ids[i])) {
            refuse(reading, "'%.64s' is not the id of a job", items[i]);
            return;
        }
    }
    if (ids)
        *(struct value_ids *)reading->member = (struct value_ids){ids, count};
}

static void read_json(const struct reading *reading)
{
    const int64_t max = reading->field->max;

    if (max > 0 && reading->json.length > (size_t)max)
        refuse(reading, "has more than %" PRId64 " bytes", max);
    else
        *(struct bytes *)reading->member = reading->json;
}

static void read_object(const struct reading *reading);

static void (*const readers[])(const struct reading *reading) = {
    [VALUE_IS_TEXT] = read_text,     [VALUE_IS_NAME] = read_name,
    [VALUE_IS_ID] = read_id,         [VALUE_IS_NUMBER] = read_number,
    [VALUE_IS_FLAG] = read_flag,     [VALUE_IS_DURATION] = read_duration,
    [VALUE_IS_MOMENT] = read_moment, [VALUE_IS_WORD] = read_word,
    [VALUE_IS_NAMES] = read_names,   [VALUE_IS_IDS] = read_ids,
    [VALUE_IS_JSON] = read_json,     [VALUE_IS_OBJECT] = read_object,
};

/* ---- tables ---- */

static const struct value_field *find_field(const struct value_field *fields, const char *name)
{
    for (const struct value_field *field = fields; field->name; field++) {
        if (text_equal(field->name, name))
            return field;
    }
    return NULL;
}

/* Somebody who wrote `name` may have meant a field that there is. */
static void refuse_name(const struct value_field *fields, const char *pointer, const char *name,
                        struct problems *problems)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (const struct value_field *field = fields; field->name && count < NAMES_MAX; field++)
        names[count++] = field->name;
    const char *closest = text_closest(name, names, count);

    if (closest)
        problems_add(problems, pointer, "is not known here (did you mean '%s'?)", closest);
    else
        problems_add(problems, pointer, "is not known here");
}

/* A JSON pointer has ~ and / of a name escaped, and is cut where it is absurd. */
static const char *point(const char *base, const char *name, char pointer[POINTER_MAX])
{
    size_t length = (size_t)snprintf(pointer, POINTER_MAX, "%s/", base);

    for (const char *at = name; *at && length < POINTER_MAX - 3; at++) {
        if (*at == '~' || *at == '/') {
            pointer[length++] = '~';
            pointer[length++] = *at == '~' ? '0' : '1';
        } else {
            pointer[length++] = *at;
        }
    }
    pointer[length] = '\0';
    return pointer;
}

static void require(const struct value_field *fields, const bool *seen, const char *base,
                    struct problems *problems)
{
    char pointer[POINTER_MAX];

    for (size_t i = 0; fields[i].name; i++) {
        if (fields[i].is_required && !seen[i])
            problems_add(problems, base ? point(base, fields[i].name, pointer) : fields[i].name,
                         "is missing");
    }
}

static bool is_scalar_text(struct bytes json)
{
    return json.length > 0 && json.data[0] == '"';
}

static void read_member(const struct value_field *field, const char *pointer, struct bytes json,
                        usec_t now, void *into, struct problems *problems)
{
    struct reading reading = {
        .field = field,
        .pointer = pointer,
        .json = json,
        .now = now,
        .member = (char *)into + field->offset,
        .problems = problems,
    };

    if (is_scalar_text(json) && field->kind != VALUE_IS_JSON &&
        !json_to_text(json, problems->arena, &reading.text)) {
        refuse(&reading, "has to be a text without NULs");
        return;
    }
    readers[field->kind](&reading);
}

static void read_members(const struct value_field *fields, const char *base, struct bytes object,
                         usec_t now, void *into, struct problems *problems)
{
    bool seen[NAMES_MAX] = {false};
    struct json_members members;
    char pointer[POINTER_MAX];
    struct error err;

    if (!json_split_object(object, problems->arena, &members, &err)) {
        problems_add(problems, base, "%s", err.text);
        return;
    }
    for (size_t i = 0; i < members.count; i++) {
        const struct json_member *member = &members.items[i];
        const struct value_field *field = find_field(fields, member->name);

        point(base, member->name, pointer);
        if (!field) {
            refuse_name(fields, pointer, member->name, problems);
        } else if (!json_means_null(member->value)) {
            seen[field - fields] = true;
            read_member(field, pointer, member->value, now, into, problems);
        }
    }
    require(fields, seen, base, problems);
}

static void read_object(const struct reading *reading)
{
    read_members(reading->field->fields, reading->pointer, reading->json, reading->now,
                 reading->member, reading->problems);
}

void fields_read_body(const struct value_field *fields, struct bytes body, usec_t now, void *into,
                      struct problems *problems)
{
    const struct bytes nothing = {(const unsigned char *)"{}", 2};

    read_members(fields, "", body.length > 0 ? body : nothing, now, into, problems);
}

void fields_read_query(const struct value_field *fields, const struct http_query *query, usec_t now,
                       void *into, struct problems *problems)
{
    bool seen[NAMES_MAX] = {false};

    for (size_t i = 0; i < query->count; i++) {
        const struct http_parameter *parameter = &query->parameters[i];
        const struct value_field *field = find_field(fields, parameter->name);

        if (!field) {
            refuse_name(fields, parameter->name, parameter->name, problems);
            continue;
        }
        const struct reading reading = {
            .field = field,
            .pointer = parameter->name,
            .text = parameter->value,
            .now = now,
            .member = (char *)into + field->offset,
            .problems = problems,
        };

        seen[field - fields] = true;
        readers[field->kind](&reading);
    }
    require(fields, seen, NULL, problems);
}
