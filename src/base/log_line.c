/*
 * log_line.c - an event as one line, in each of its forms.
 *
 * Invariants:
 *   - A line has one newline, at its end, and is at most LOG_LINE_MAX bytes.
 *   - Within it a value is bare, or quoted and escaped as JSON has it. Bare it has no space, quote,
 *     '=', backslash or control character, and it is UTF-8: so no value can end before its end.
 *     People read the last one as it is, but for control characters: it ends with the line.
 */
#include "base/log_line.h"

#include "base/log_field.h"
#include "base/text.h"
#include "base/timestamp.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define DOTS        "..."
#define FAINT       "\033[2m"
#define PLAIN       "\033[0m"
#define PIECE_SIZE  8 /* a character, escaped */

static_assert(LOG_LINE_MAX <= PIPE_BUF, "a pipe takes a line whole");
static_assert(LOG_FIELD_MAX >= LOG_LINE_MAX, "a value that lost its end is cut in the line too");

static const struct {
    const char *name;
    int priority; /* of syslog */
    const char *colour, *shown;
} levels[] = {
    [LEVEL_ERROR] = {"error", 3, "\033[1;31m", "error "},
    [LEVEL_WARNING] = {"warning", 4, "\033[1;33m", "warning "},
    [LEVEL_INFO] = {"info", 6, "\033[1m", ""},
    [LEVEL_DEBUG] = {"debug", 7, FAINT, ""},
};

struct line {
    char *text;
    size_t length;
    size_t end; /* where it must end, for what closes it to fit */
    bool json;
    bool for_people, coloured;
    bool has_fields;
    bool is_full; /* something did not fit */
};

static void add(struct line *line, const void *data, size_t length)
{
    if (length > line->end - line->length) {
        line->is_full = true;
        return;
    }
    memcpy(line->text + line->length, data, length);
    line->length += length;
}

static void add_string(struct line *line, const char *text)
{
    add(line, text, strlen(text));
}

static void add_colour(struct line *line, const char *colour)
{
    if (line->coloured)
        add_string(line, colour);
}

/* Printable ASCII that means nothing in any form. */
static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\';
}

static bool are_plain(struct bytes text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!is_plain(text.data[i]))
            return false;
    }
    return true;
}

static bool can_be_bare(struct bytes text)
{
    if (text.length == 0 || are_plain(text))
        return text.length > 0;
    while (text.length > 0) {
        const size_t length = text_character_length(text);

        if (length == 0 || (length == 1 && !is_plain(text.data[0])) ||
            text_is_deceptive(text_code_point(text)))
            return false;
        text.data += length;
        text.length -= length;
    }
    return true;
}

static size_t escape_code(uint32_t code, char piece[PIECE_SIZE])
{
    switch (code) {
    case '\n':
        return (size_t)snprintf(piece, PIECE_SIZE, "\\n");
    case '\r':
        return (size_t)snprintf(piece, PIECE_SIZE, "\\r");
    case '\t':
        return (size_t)snprintf(piece, PIECE_SIZE, "\\t");
    case '"':
    case '\\':
        return (size_t)snprintf(piece, PIECE_SIZE, "\\%c", (char)code);
    default:
        return (size_t)snprintf(piece, PIECE_SIZE, "\\u%04x", code & 0xFFFFU);
    }
}

/* The first character of the text, as it stands in a line; steps over it. Returns how long. */
static size_t take_piece(struct bytes *text, bool quoted, char piece[PIECE_SIZE])
{
    const unsigned char *character = text->data;
    const size_t length = text_character_length(*text);
    const uint32_t code = text_code_point(*text);

    text->data += length > 0 ? length : 1;
    text->length -= length > 0 ? length : 1;
    if (length == 0)
        return (size_t)snprintf(piece, PIECE_SIZE, REPLACEMENT);
    if ((quoted && (code == '"' || code == '\\')) || text_is_deceptive(code))
        return escape_code(code, piece);
    memcpy(piece, character, length);
    return length;
}

/* Up to `end`; what would pass it is cut between two characters, for the dots. */
static void add_escaped(struct line *line, struct bytes text, bool quoted, size_t end)
{
    size_t cut_at = line->length;

    if (text.length <= end - line->length && are_plain(text)) {
        add(line, text.data, text.length);
        return;
    }
    while (text.length > 0) {
        char piece[PIECE_SIZE];
        const size_t length = take_piece(&text, quoted, piece);

        if (length > end - line->length) {
            line->length = cut_at;
            add_string(line, DOTS);
            return;
        }
        add(line, piece, length);
        if (end - line->length >= strlen(DOTS))
            cut_at = line->length;
    }
}

/* The most that a value may take. One with fields after it leaves them an eighth of the rest. */
static size_t end_of_value(const struct line *line, bool is_last)
{
    const size_t room = line->end - line->length;

    return is_last ? line->end : line->end - room / 8;
}

/* Whether it has to be told from what follows. */
static bool needs_quotes(const struct line *line, struct bytes text, bool is_last)
{
    if (line->for_people && is_last && text.length > 0)
        return false;
    return line->json || !can_be_bare(text);
}

static void add_text(struct line *line, struct bytes text, bool is_last)
{
    const bool quoted = needs_quotes(line, text, is_last);
    const size_t end = end_of_value(line, is_last);

    if (end - line->length < strlen("\"\"" DOTS)) {
        line->is_full = true;
        return;
    }
    if (quoted)
        add_string(line, "\"");
    add_escaped(line, text, quoted, quoted ? end - 1 : end);
    if (quoted)
        add_string(line, "\"");
}

static void add_key(struct line *line, struct bytes key)
{
    if (line->has_fields)
        add_string(line, line->json ? "," : " ");
    if (line->json)
        add_string(line, "\"");
    add_colour(line, FAINT);
    add(line, key.data, key.length);
    add_string(line, line->json ? "\":" : "=");
    add_colour(line, PLAIN);
}

static void add_value(struct line *line, const struct log_field *field)
{
    const struct bytes value = {(const unsigned char *)field->value, field->length};

    switch (field->kind) {
    case KIND_TEXT:
        add_text(line, value, field->is_last);
        return;
    case KIND_ABSENT:
        add_string(line, line->json ? "null" : "-");
        return;
    case KIND_NUMBER:
        add(line, value.data, value.length);
        return;
    }
}

static void add_fields(struct line *line, const char *format, va_list arguments)
{
    struct log_fields fields = {.rest = format};
    struct log_field field;

    va_copy(fields.arguments, arguments);
    while (log_field_read(&fields, &field)) {
        const size_t start = line->length;

        line->is_full = false;
        add_key(line, field.key);
        add_value(line, &field);
        if (line->is_full)
            line->length = start;
        else
            line->has_fields = true;
    }
    va_end(fields.arguments);
}

static void add_fixed(struct line *line, const char *key, const char *value)
{
    add_key(line, (struct bytes){(const unsigned char *)key, strlen(key)});
    add_text(line, (struct bytes){(const unsigned char *)value, strlen(value)}, false);
    line->has_fields = true;
}

static void add_own_fields(struct line *line, const struct log_form *form,
                           const struct log_event *event, const char *format)
{
    char moment[TIMESTAMP_SIZE];

    if (!form->for_journald)
        add_fixed(line, "time", timestamp_format(event->time, moment));
    add_fixed(line, "level", levels[event->level].name);
    add_fixed(line, "event", event->name);
    if (event->pool && !log_field_is_in(format, "pool"))
        add_fixed(line, "pool", event->pool);
    if (event->process && !log_field_is_in(format, "process"))
        add_fixed(line, "process", event->process);
}

/* "10:00:00.123 dispatcher   " in local time. */
static void add_origin(struct line *line, const struct log_event *event)
{
    const time_t seconds = (time_t)(event->time / USEC_PER_SEC);
    struct tm local = {0};
    char text[128];

    localtime_r(&seconds, &local);
    snprintf(text, sizeof text, "%02d:%02d:%02d.%03d %-12s ", local.tm_hour, local.tm_min,
             local.tm_sec, (int)(event->time % USEC_PER_SEC / USEC_PER_MSEC),
             event->process ? event->process : "");
    add_colour(line, FAINT);
    add_string(line, text);
    add_colour(line, PLAIN);
}

static void add_for_people(struct line *line, const struct log_event *event)
{
    add_origin(line, event);
    add_colour(line, levels[event->level].colour);
    add_string(line, levels[event->level].shown);
    add_string(line, event->name);
    add_colour(line, PLAIN);
    line->has_fields = true;
}

static void add_priority(struct line *line, enum log_level level)
{
    char text[PIECE_SIZE];

    snprintf(text, sizeof text, "<%d>", levels[level].priority);
    add_string(line, text);
}

size_t log_line_write(char line_out[LOG_LINE_MAX], const struct log_form *form,
                      const struct log_event *event, const char *format, va_list arguments)
{
    const bool json = form->format == FORMAT_JSON;
    const char *closing = json ? "}\n" : "\n";
    struct line line = {
        .text = line_out,
        .end = LOG_LINE_MAX - strlen(closing),
        .json = json,
        .for_people = form->for_people,
        .coloured = form->coloured,
    };

    if (form->for_journald)
        add_priority(&line, event->level);
    if (json)
        add_string(&line, "{");
    if (form->for_people)
        add_for_people(&line, event);
    else
        add_own_fields(&line, form, event, format);
    add_fields(&line, format, arguments);
    line.end = LOG_LINE_MAX;
    add_string(&line, closing);
    return line.length;
}
