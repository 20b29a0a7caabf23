/*
 * json.c - JSON text: checked and taken apart.
 *
 * json_scan.c finds where the parts of a text are; here they become what callers ask for.
 */
#include "base/json.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

bool json_check(struct bytes text, struct error *err)
{
    struct json_scan scan = json_scan_of(text);

    do {
        if (!json_scan_next(&scan))
            return json_scan_report(&scan, err);
    } while (scan.part != JSON_PART_END);
    return true;
}

/* ---- strings ---- */

static unsigned read_hex(const unsigned char *digits)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) {
        const unsigned c = digits[i];

        value = value << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static size_t write_utf8(unsigned code, unsigned char *out)
{
    if (code < 0x80) {
        out[0] = (unsigned char)code;
        return 1;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {[2] = 0xC0, [3] = 0xE0, [4] = 0xF0};

    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (unsigned char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (unsigned char)(marks[length] | code);
    return length;
}

/* What stands after \u; returns how much that is. */
static size_t decode_code_point(const unsigned char *at, unsigned *code_out)
{
    const unsigned first = read_hex(at);

    if (first < 0xD800 || first > 0xDFFF) {
        *code_out = first;
        return 4;
    }
    *code_out = 0x10000 + ((first - 0xD800) << 10 | (read_hex(at + 6) - 0xDC00));
    return 10;
}

static unsigned decode_letter(unsigned char letter)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *found = strchr(from, letter);

    return found ? (unsigned char)to[found - from] : letter;
}

size_t json_decode_string(unsigned char *string, size_t length)
{
    const unsigned char *at = memchr(string, '\\', length);
    const unsigned char *const end = string + length;

    if (!at)
        return length;
    unsigned char *out = string + (at - string);
    while (at < end) {
        unsigned code = 0;

        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        if (at[1] == 'u') {
            at += 2 + decode_code_point(at + 2, &code);
        } else {
            code = decode_letter(at[1]);
            at += 2;
        }
        out += write_utf8(code, out);
    }
    return (size_t)(out - string);
}

/* A string that was scanned, with its quotes. NULL when it has a NUL inside or memory is out. */
static const char *decoded_copy(struct bytes string, struct arena *arena)
{
    const size_t written = string.length - 2;
    unsigned char *copy = arena_alloc(arena, written + 1);

    if (!copy)
        return NULL;
    memcpy(copy, string.data + 1, written);
    const size_t length = json_decode_string(copy, written);
    copy[length] = '\0';
    return memchr(copy, '\0', length) ? NULL : (const char *)copy;
}

/* ---- members and values ---- */

/* `items` with room for one more of `size` bytes, zeroed, or NULL. */
static void *make_room(void *items, size_t count, size_t size, size_t *capacity,
                       struct arena *arena)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity > 0 ? 2 * *capacity : 16;
    void *larger = arena_alloc(arena, *capacity * size);

    if (larger && count > 0)
        memcpy(larger, items, count * size);
    return larger;
}

/* Steps over the bracket that opens all of the text. */
static bool scan_open(struct json_scan *scan, char bracket, const char *expectation)
{
    if (json_scan_peek(scan) != bracket)
        return json_scan_fail(scan, expectation);
    return json_scan_next(scan);
}

static bool scan_whole_value(struct json_scan *scan, struct bytes *value_out)
{
    if (!json_scan_whole(scan))
        return false;
    *value_out = scan->text;
    return true;
}

/* After its name. */
static bool scan_member(struct json_scan *scan, struct arena *arena, struct json_member *member)
{
    member->name = decoded_copy(scan->text, arena);
    if (!member->name) {
        scan->at = scan->text.data;
        return json_scan_fail(scan, "\\u0000 in a name");
    }
    return json_scan_next(scan) && scan_whole_value(scan, &member->value);
}

static bool scan_members(struct json_scan *scan, struct arena *arena, struct json_members *members)
{
    size_t capacity = 0;

    if (!scan_open(scan, '{', "expected an object"))
        return false;
    while (json_scan_next(scan)) {
        if (scan->part == JSON_PART_CLOSE)
            return json_scan_next(scan);
        struct json_member *items =
            make_room(members->items, members->count, sizeof *items, &capacity, arena);

        if (!items)
            return false;
        members->items = items;
        if (!scan_member(scan, arena, &items[members->count++]))
            return false;
    }
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, equal names are neighbours: an object of very many members cannot keep us busy. */
static bool check_names(const struct json_members *members, struct arena *arena, struct error *err)
{
    const char **names = arena_alloc(arena, members->count * sizeof *names);
    char shown[EXCERPT_SIZE];

    if (!names)
        return error_no_memory(err);
    for (size_t i = 0; i < members->count; i++)
        names[i] = members->items[i].name;
    qsort(names, members->count, sizeof *names, compare_names);
    for (size_t i = 1; i < members->count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return error_set(err, TH_E_INVALID, "the name '%s' appears twice",
                             excerpt_of(names[i], shown));
    }
    return true;
}

bool json_split_object(struct bytes text, struct arena *arena, struct json_members *members_out,
                       struct error *err)
{
    struct json_scan scan = json_scan_of(text);

    *members_out = (struct json_members){NULL, 0};
    const bool scanned = scan_members(&scan, arena, members_out);
    if (arena->failed)
        return error_no_memory(err);
    return scanned ? check_names(members_out, arena, err) : json_scan_report(&scan, err);
}

static bool scan_values(struct json_scan *scan, struct arena *arena, struct json_values *values)
{
    size_t capacity = 0;

    if (!scan_open(scan, '[', "expected an array"))
        return false;
    while (json_scan_next(scan)) {
        if (scan->part == JSON_PART_CLOSE)
            return json_scan_next(scan);
        struct bytes *items =
            make_room(values->items, values->count, sizeof *items, &capacity, arena);

        if (!items)
            return false;
        values->items = items;
        if (!scan_whole_value(scan, &items[values->count++]))
            return false;
    }
    return false;
}

bool json_split_array(struct bytes text, struct arena *arena, struct json_values *values_out,
                      struct error *err)
{
    struct json_scan scan = json_scan_of(text);

    *values_out = (struct json_values){NULL, 0};
    const bool scanned = scan_values(&scan, arena, values_out);
    if (arena->failed)
        return error_no_memory(err);
    return scanned || json_scan_report(&scan, err);
}

/* ---- scalars ---- */

/* One scalar and no space around it. */
static bool is_scalar(struct bytes value)
{
    struct json_scan scan = json_scan_of(value);

    return json_scan_next(&scan) && scan.part == JSON_PART_SCALAR &&
           scan.text.length == value.length;
}

bool json_to_text(struct bytes value, struct arena *arena, const char **text_out)
{
    if (!is_scalar(value) || value.data[0] != '"')
        return false;
    const char *text = decoded_copy(value, arena);
    if (!text)
        return false;
    *text_out = text;
    return true;
}

bool json_to_int(struct bytes value, int64_t *number_out)
{
    char number[sizeof "-9223372036854775808"];

    if (value.length >= sizeof number || !is_scalar(value))
        return false;
    memcpy(number, value.data, value.length);
    number[value.length] = '\0';
    return text_to_int(number, INT64_MIN, INT64_MAX, number_out);
}

static bool is_word(struct bytes value, const char *word)
{
    return value.length == strlen(word) && memcmp(value.data, word, value.length) == 0;
}

bool json_to_bool(struct bytes value, bool *flag_out)
{
    const bool is_true = is_word(value, "true");

    if (!is_true && !is_word(value, "false"))
        return false;
    *flag_out = is_true;
    return true;
}

bool json_means_null(struct bytes value)
{
    return is_word(value, "null");
}
