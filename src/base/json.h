/*
 * json.h - JSON text: checked and taken apart.
 *
 * Payloads pass through TaskHarbor as the text the producer wrote: a number of forty digits stays
 * what it is. So all of this works on the text itself and says where its parts are; only strings
 * and integers that somebody asks for are decoded.
 *
 *     json.h          what is JSON, and the members of an object     json.c, json_scan.c
 *     json_tree.h     all of a text as values that can be walked
 *     json_writer.h   values as text
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

/* What stands between the quotes of a string that was scanned, decoded in place, which never makes
 * it longer. Returns the new length. */
size_t json_decode_string(unsigned char *string, size_t length);

/* ---- the scanner: a text part by part ---- */

enum json_part {
    JSON_PART_NAME,   /* of a member: a string, whose value comes next */
    JSON_PART_SCALAR, /* a string, a number, true, false, null */
    JSON_PART_OPEN,   /* a bracket, and what is inside it comes next */
    JSON_PART_CLOSE,
    JSON_PART_END, /* of the text */
};

/* What may stand at `at`, besides space. */
enum json_due {
    JSON_DUE_VALUE,
    JSON_DUE_FIRST, /* the first of what is inside brackets, or the one that closes them */
    JSON_DUE_COLON,
    JSON_DUE_REST, /* a comma or a closing bracket; the end of the text where none is open */
};

struct json_scan {
    const unsigned char *start, *at, *end;
    enum json_part part;
    struct bytes text;   /* of the part, as written */
    const char *problem; /* NULL: none so far */
    enum json_due due;
    size_t depth;
    char closing[JSON_DEPTH_MAX]; /* the bracket that each open one waits for */
};

struct json_scan json_scan_of(struct bytes text);

/* The next part. False leaves `at` at the fault and says in `problem` what that is. */
bool json_scan_next(struct json_scan *scan) MUST_CHECK;

/* After the start of a value: all of it becomes the part's text. */
bool json_scan_whole(struct json_scan *scan) MUST_CHECK;

/* Both return false. The error has line, column in characters, and problem. */
bool json_scan_fail(struct json_scan *scan, const char *problem);
bool json_scan_report(const struct json_scan *scan, struct error *err);

/* Steps over space. The byte after it, or -1 at the end. */
int json_scan_peek(struct json_scan *scan);

/* Text that json_check() accepts, without the white space between its tokens. */
void json_add_compact(struct buffer *buffer, struct bytes text);

#endif
