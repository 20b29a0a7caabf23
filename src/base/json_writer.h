/*
 * json_writer.h - one JSON value into a buffer; commas are the writer's business.
 *
 *     struct json_writer json = {.out = &line};
 *     json_write_open(&json, NULL, '{');
 *     json_write_text(&json, "type", job->type);
 *     json_write_close(&json, '}');
 *
 * `name` is NULL inside arrays and at the top. Absent bytes are null. Whatever goes in, what comes
 * out is JSON: invalid UTF-8 (output of a command, say) is written with U+FFFD in its place.
 */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include "base/base.h"

struct buffer;

struct json_writer {
    struct buffer *out;
    bool comma; /* something stands before the next value */
};

void json_write_open(struct json_writer *json, const char *name, char bracket);
void json_write_close(struct json_writer *json, char bracket);
void json_write_text(struct json_writer *json, const char *name, const char *text); /* NULL: null */
void json_write_int(struct json_writer *json, const char *name, int64_t number);
void json_write_bool(struct json_writer *json, const char *name, bool flag);
void json_write_null(struct json_writer *json, const char *name);
void json_write_raw(struct json_writer *json, const char *name,
                    struct bytes checked_json); /* compacted */
void json_write_base64(struct json_writer *json, const char *name, struct bytes bytes);
void json_write_time(struct json_writer *json, const char *name, usec_t moment); /* 0 writes null */

/* Bytes as text, NULs included. */
void json_write_lossy_text(struct json_writer *json, const char *name, struct bytes bytes);

#endif
