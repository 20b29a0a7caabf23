/*
 * json.h - JSON text: checked and taken apart.
 *
 * Payloads pass through TaskHarbor as the text the producer wrote: a number of forty digits stays
 * what it is. A parser that builds values cannot do that (jansson refuses integers over 64 bits
 * and rewrites reals), so checking and splitting work on the text itself. Scalars found inside
 * are decoded by jansson, which this file alone includes.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/base.h"

struct arena;
struct buffer;
struct error;

#define JSON_DEPTH_MAX 128

/* One JSON value (RFC 8259, UTF-8, depth up to JSON_DEPTH_MAX) with white space around it.
 * Refused with line, column and reason: "line 1, column 9: expected a value". */
bool json_check(struct bytes text, struct error *err) MUST_CHECK;

/* Text that json_check() accepts, without the white space between its tokens. */
void json_add_compact(struct buffer *buffer, struct bytes text);

/* A member of an object: where it stands in the text. */
struct json_member {
    const char *name;   /* decoded */
    struct bytes value; /* as written, without surrounding space */
};

struct json_members {
    struct json_member *items;
    size_t count;
};

/* The members of the object that `text` is, in order. Refused: not an object, a name twice. */
bool json_split_object(struct bytes text, struct arena *arena, struct json_members *members_out,
                       struct error *err) MUST_CHECK;

/* The values of an array: where they stand in the text, as written, without surrounding space. */
struct json_values {
    struct bytes *items;
    size_t count;
};

/* The values of the array that `text` is, in order. Refused: not an array. */
bool json_split_array(struct bytes text, struct arena *arena, struct json_values *values_out,
                      struct error *err) MUST_CHECK;

/* A scalar as written, decoded. False when it is of another type or does not fit. A string with
 * \u0000 does not fit a C string and is refused. */
bool json_to_text(struct bytes value, struct arena *arena, const char **text_out) MUST_CHECK;
bool json_to_int(struct bytes value, int64_t *number_out) MUST_CHECK;
bool json_to_bool(struct bytes value, bool *flag_out) MUST_CHECK;
bool json_means_null(struct bytes value);

#endif
