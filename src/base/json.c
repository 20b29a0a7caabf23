/*
 * json.c - JSON text: checked and taken apart.
 *
 * json_scan.c finds where the parts of a text are; jansson decodes those strings and numbers that
 * somebody wants to know.
 */
#include "base/json.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/json_scan.h"

#include <jansson.h>
#include <string.h>

bool json_check(struct bytes text, struct error *err)
{
    struct json_scan scan = json_scan_of(text);

    if (!json_scan_value(&scan) || !json_scan_end(&scan))
        return json_scan_report(&scan, err);
    return true;
}

void json_add_compact(struct buffer *buffer, struct bytes text)
{
    struct json_scan scan = json_scan_of(text);

    while (scan.at < scan.end) {
        const unsigned char *const start = scan.at;

        /* Text that nobody checked is copied as well as it can be: the scan always moves on. */
        while (scan.at < scan.end && !json_scan_is_space(*scan.at)) {
            if (*scan.at == '"')
                json_scan_string(&scan);
            else
                scan.at++;
        }
        buffer_add(buffer, start, (size_t)(scan.at - start));
        json_scan_space(&scan);
    }
}

static void release(json_t **value)
{
    json_decref(*value);
}

static json_t *decode(struct bytes scalar)
{
    return json_loadb((const char *)scalar.data, scalar.length, JSON_DECODE_ANY | JSON_ALLOW_NUL,
                      NULL);
}

/* A string that was scanned, quotes included. NULL when it has a NUL inside or memory is out. */
static const char *decode_string(struct bytes string, struct arena *arena)
{
    if (!memchr(string.data, '\\', string.length))
        return arena_text_of(arena, (const char *)string.data + 1, string.length - 2);

    CLEANUP(release) json_t *decoded = decode(string);
    if (!decoded) {
        arena->failed = true;
        return NULL;
    }
    const char *text = json_string_value(decoded);
    const size_t length = json_string_length(decoded);
    return memchr(text, '\0', length) ? NULL : arena_text_of(arena, text, length);
}

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

/* A zeroed member at the end, or NULL. */
static struct json_member *add_member(struct json_members *members, size_t *capacity,
                                      struct arena *arena)
{
    struct json_member *items =
        make_room(members->items, members->count, sizeof(*items), capacity, arena);

    if (!items)
        return NULL;
    members->items = items;
    return &items[members->count++];
}

static bool scan_value(struct json_scan *scan, struct bytes *value_out)
{
    json_scan_space(scan);
    const unsigned char *const start = scan->at;

    if (!json_scan_value(scan))
        return false;
    *value_out = (struct bytes){start, (size_t)(scan->at - start)};
    return true;
}

static bool scan_member(struct json_scan *scan, struct arena *arena, struct json_member *member)
{
    json_scan_space(scan);
    const unsigned char *const name = scan->at;
    if (!json_scan_name(scan))
        return false;
    member->name = decode_string((struct bytes){name, (size_t)(scan->at - name)}, arena);
    if (!member->name) {
        scan->at = name;
        return json_scan_fail(scan, "\\u0000 in a name");
    }
    return json_scan_colon(scan) && scan_value(scan, &member->value);
}

static bool scan_members(struct json_scan *scan, struct arena *arena,
                         struct json_members *members_out)
{
    size_t capacity = 0;

    json_scan_space(scan);
    if (json_scan_peek(scan) != '{')
        return json_scan_fail(scan, "expected an object");
    if (!json_scan_open(scan))
        return false;
    if (json_scan_accept(scan, '}'))
        return json_scan_end(scan);
    do {
        struct json_member *member = add_member(members_out, &capacity, arena);

        if (!member || !scan_member(scan, arena, member))
            return false;
    } while (json_scan_accept(scan, ','));
    if (!json_scan_accept(scan, '}'))
        return json_scan_fail(scan, "expected ',' or '}'");
    return json_scan_end(scan);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, equal names are neighbours: an object of very many members cannot keep us busy. */
static bool check_names(const struct json_members *members, struct arena *arena, struct error *err)
{
    const char **names = arena_alloc(arena, members->count * sizeof(*names));
    char shown[EXCERPT_SIZE];

    if (!names)
        return error_no_memory(err);
    for (size_t i = 0; i < members->count; i++)
        names[i] = members->items[i].name;
    qsort(names, members->count, sizeof(*names), compare_names);
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

static bool scan_values(struct json_scan *scan, struct arena *arena, struct json_values *values_out)
{
    size_t capacity = 0;

    json_scan_space(scan);
    if (json_scan_peek(scan) != '[')
        return json_scan_fail(scan, "expected an array");
    if (!json_scan_open(scan))
        return false;
    if (json_scan_accept(scan, ']'))
        return json_scan_end(scan);
    do {
        struct bytes *items =
            make_room(values_out->items, values_out->count, sizeof(*items), &capacity, arena);

        if (!items)
            return false;
        values_out->items = items;
        if (!scan_value(scan, &items[values_out->count++]))
            return false;
    } while (json_scan_accept(scan, ','));
    if (!json_scan_accept(scan, ']'))
        return json_scan_fail(scan, "expected ',' or ']'");
    return json_scan_end(scan);
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

bool json_to_text(struct bytes value, struct arena *arena, const char **text_out)
{
    struct json_scan scan = json_scan_of(value);

    if (json_scan_peek(&scan) != '"' || !json_scan_string(&scan) || scan.at != scan.end)
        return false;
    const char *text = decode_string(value, arena);
    if (!text || arena->failed)
        return false;
    *text_out = text;
    return true;
}

bool json_to_int(struct bytes value, int64_t *number_out)
{
    struct json_scan scan = json_scan_of(value);

    if (!json_scan_number(&scan) || scan.at != scan.end)
        return false;
    CLEANUP(release) json_t *decoded = decode(value);
    if (!json_is_integer(decoded))
        return false;
    *number_out = json_integer_value(decoded);
    return true;
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
