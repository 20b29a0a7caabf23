/*
 * json_scan.h - steps over JSON text, one part at a time; for json.c.
 *
 * Each function begins where `at` is and leaves it behind what it found. Those that return false
 * leave it at the fault and say in `problem` what that is.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/base.h"
#include "base/json.h"

struct error;

struct json_scan {
    const unsigned char *start, *at, *end;
    const char *problem; /* NULL: none so far */
    size_t depth;
    char closing[JSON_DEPTH_MAX]; /* the bracket that each open one waits for */
};

struct json_scan json_scan_of(struct bytes text);

/* Both return false. The error has line, column in characters, and problem. */
bool json_scan_fail(struct json_scan *scan, const char *problem);
bool json_scan_report(const struct json_scan *scan, struct error *err);

/* The next byte, or -1 at the end. */
static inline int json_scan_peek(const struct json_scan *scan)
{
    return scan->at < scan->end ? *scan->at : -1;
}

static inline bool json_scan_is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

void json_scan_space(struct json_scan *scan);

/* Space and then `c`, if it is there. Its absence is no problem. */
bool json_scan_accept(struct json_scan *scan, char c);

bool json_scan_string(struct json_scan *scan); /* at its first quote */
bool json_scan_number(struct json_scan *scan);
bool json_scan_name(struct json_scan *scan);
bool json_scan_colon(struct json_scan *scan);
bool json_scan_open(struct json_scan *scan); /* at a bracket: goes one deeper */
bool json_scan_value(struct json_scan *scan);
bool json_scan_end(struct json_scan *scan);

#endif
