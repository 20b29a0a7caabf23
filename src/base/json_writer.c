/*
 * json_writer.c - one JSON value into a buffer.
 *
 * Every value begins with start_value(), which writes the comma before it and its name. Invalid
 * UTF-8 never reaches the output.
 */
#include "base/json_writer.h"

#include "base/base64.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "base/timestamp.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* A byte that cannot stand in a string as it is. */
static void add_escaped(struct buffer *out, unsigned char c)
{
    switch (c) {
    case '"':
        buffer_text(out, "\\\"");
        return;
    case '\\':
        buffer_text(out, "\\\\");
        return;
    case '\n':
        buffer_text(out, "\\n");
        return;
    case '\r':
        buffer_text(out, "\\r");
        return;
    case '\t':
        buffer_text(out, "\\t");
        return;
    default:
        if (c < 0x20)
            buffer_printf(out, "\\u%04x", c);
        else
            buffer_text(out, REPLACEMENT);
    }
}

/* The length of the character at the start that can be copied; 0 when it must be escaped. */
static size_t copyable_length(struct bytes text)
{
    const unsigned char c = text.data[0];

    if (c < 0x20 || c == '"' || c == '\\')
        return 0;
    return c < 0x80 ? 1 : text_character_length(text);
}

static void add_string(struct buffer *out, struct bytes text)
{
    const unsigned char *copied = text.data;

    buffer_char(out, '"');
    while (text.length > 0) {
        const size_t length = copyable_length(text);

        if (length == 0) {
            buffer_add(out, copied, (size_t)(text.data - copied));
            add_escaped(out, text.data[0]);
            copied = text.data + 1;
        }
        text.data += length > 0 ? length : 1;
        text.length -= length > 0 ? length : 1;
    }
    buffer_add(out, copied, (size_t)(text.data - copied));
    buffer_char(out, '"');
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, text ? strlen(text) : 0};
}

static void start_value(struct json_writer *json, const char *name)
{
    if (json->comma)
        buffer_char(json->out, ',');
    if (name) {
        add_string(json->out, bytes_of(name));
        buffer_char(json->out, ':');
    }
    json->comma = true;
}

void json_write_open(struct json_writer *json, const char *name, char bracket)
{
    start_value(json, name);
    buffer_char(json->out, bracket);
    json->comma = false;
}

void json_write_close(struct json_writer *json, char bracket)
{
    buffer_char(json->out, bracket);
    json->comma = true;
}

void json_write_text(struct json_writer *json, const char *name, const char *text)
{
    json_write_lossy_text(json, name, bytes_of(text));
}

void json_write_int(struct json_writer *json, const char *name, int64_t number)
{
    start_value(json, name);
    buffer_printf(json->out, "%" PRId64, number);
}

void json_write_bool(struct json_writer *json, const char *name, bool flag)
{
    start_value(json, name);
    buffer_text(json->out, flag ? "true" : "false");
}

void json_write_null(struct json_writer *json, const char *name)
{
    start_value(json, name);
    buffer_text(json->out, "null");
}

void json_write_raw(struct json_writer *json, const char *name, struct bytes checked_json)
{
    if (!checked_json.data) {
        json_write_null(json, name);
        return;
    }
    start_value(json, name);
    json_add_compact(json->out, checked_json);
}

void json_write_base64(struct json_writer *json, const char *name, struct bytes bytes)
{
    if (!bytes.data) {
        json_write_null(json, name);
        return;
    }
    start_value(json, name);
    buffer_char(json->out, '"');
    base64_add(json->out, bytes);
    buffer_char(json->out, '"');
}

void json_write_time(struct json_writer *json, const char *name, usec_t moment)
{
    char text[TIMESTAMP_SIZE];

    json_write_text(json, name, moment == 0 ? NULL : timestamp_format(moment, text));
}

void json_write_lossy_text(struct json_writer *json, const char *name, struct bytes bytes)
{
    if (!bytes.data) {
        json_write_null(json, name);
        return;
    }
    start_value(json, name);
    add_string(json->out, bytes);
}
