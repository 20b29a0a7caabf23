/*
 * headers.c - what a producer sends along with a job.
 */
#include "job/headers.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

#define ALLOWED "use a JSON object of at most 8192 bytes, or leave them out"

static_assert(HEADERS_MAX == 8192, "ALLOWED tells the limit");

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static bool is_object(struct bytes text)
{
    struct json_scan scan = json_scan_of(text);
    struct error ignored;

    return json_scan_peek(&scan) == '{' && json_check(text, &ignored);
}

bool headers_check(const char *headers, struct error *err)
{
    if (!headers)
        return true;
    const struct bytes text = bytes_of(headers);

    if (text.length > HEADERS_MAX)
        return error_set(err, TH_E_INVALID, "headers are %zu bytes long: " ALLOWED, text.length);
    return is_object(text) ||
           error_set(err, TH_E_INVALID, "headers are not a JSON object: " ALLOWED);
}

/* Whether the name that was just scanned is this one. */
static bool is_named(const struct json_scan *scan, const char *name, struct arena *arena)
{
    const char *found;

    return json_to_text(scan->text, arena, &found) && text_equal(found, name);
}

const char *headers_get(const char *headers, const char *name, struct arena *arena)
{
    const char *value = NULL;

    if (!headers || !is_object(bytes_of(headers)))
        return NULL;
    struct json_scan scan = json_scan_of(bytes_of(headers));
    while (json_scan_next(&scan) && scan.part != JSON_PART_END) {
        if (scan.part != JSON_PART_NAME || scan.depth != 1 || !is_named(&scan, name, arena))
            continue;
        if (!json_scan_next(&scan) || !json_scan_whole(&scan) ||
            !json_to_text(scan.text, arena, &value))
            value = NULL;
    }
    return value;
}
