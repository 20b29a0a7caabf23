/*
 * json_scan.c - steps over JSON text, one part at a time (RFC 8259).
 *
 * A value is scanned without recursion: the brackets that are open stand in an array as deep as
 * JSON_DEPTH_MAX, and between any two parts the scan is either before a value (scan_head) or
 * behind one (scan_tail).
 *
 * This is on the path of every job, so the plain bytes of strings have a loop of their own. What
 * is accepted can be decoded: invalid UTF-8 and halves of surrogate pairs are refused.
 */
#include "base/json_scan.h"

#include "base/error.h"
#include "base/text.h"

#include <string.h>

struct json_scan json_scan_of(struct bytes text)
{
    const unsigned char *start = text.data ? text.data : (const unsigned char *)"";

    return (struct json_scan){.start = start, .at = start, .end = start + text.length};
}

bool json_scan_fail(struct json_scan *scan, const char *problem)
{
    scan->problem = problem;
    return false;
}

bool json_scan_report(const struct json_scan *scan, struct error *err)
{
    size_t line = 1, column = 1;

    for (const unsigned char *byte = scan->start; byte < scan->at; byte++) {
        if (*byte == '\n') {
            line++;
            column = 1;
        } else if ((*byte & 0xC0) != 0x80) {
            column++;
        }
    }
    return error_set(err, TH_E_INVALID, "line %zu, column %zu: %s", line, column, scan->problem);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

void json_scan_space(struct json_scan *scan)
{
    while (json_scan_is_space(json_scan_peek(scan)))
        scan->at++;
}

bool json_scan_accept(struct json_scan *scan, char c)
{
    json_scan_space(scan);
    if (json_scan_peek(scan) != c)
        return false;
    scan->at++;
    return true;
}

/* Four hexadecimal digits. */
static bool scan_code_unit(struct json_scan *scan, unsigned *unit_out)
{
    *unit_out = 0;
    for (int i = 0; i < 4; i++) {
        const int c = json_scan_peek(scan);
        const int letter = c | 0x20;

        if (!is_digit(c) && (letter < 'a' || letter > 'f'))
            return json_scan_fail(scan, "expected four hexadecimal digits");
        *unit_out = *unit_out << 4 | (unsigned)(is_digit(c) ? c - '0' : letter - 'a' + 10);
        scan->at++;
    }
    return true;
}

/* What follows \u: a character, or the first half of one and the second behind another \u. */
static bool scan_code_point(struct json_scan *scan)
{
    const unsigned char *const start = scan->at;
    unsigned unit = 0, second = 0;

    if (!scan_code_unit(scan, &unit))
        return false;
    if (unit < 0xD800 || unit > 0xDFFF)
        return true;
    if (unit < 0xDC00 && scan->end - scan->at > 2 && memcmp(scan->at, "\\u", 2) == 0) {
        scan->at += 2;
        if (!scan_code_unit(scan, &second))
            return false;
        if (second >= 0xDC00 && second <= 0xDFFF)
            return true;
    }
    scan->at = start;
    return json_scan_fail(scan, "half a surrogate pair");
}

static bool scan_escape(struct json_scan *scan)
{
    scan->at++;
    switch (json_scan_peek(scan)) {
    case 'u':
        scan->at++;
        return scan_code_point(scan);
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        scan->at++;
        return true;
    default:
        return json_scan_fail(scan, "no such escape");
    }
}

/* What a string has besides plain characters and its end. */
static bool scan_special(struct json_scan *scan)
{
    const struct bytes rest = {scan->at, (size_t)(scan->end - scan->at)};

    if (rest.length == 0)
        return json_scan_fail(scan, "the string has no end");
    if (rest.data[0] == '\\')
        return scan_escape(scan);
    if (rest.data[0] < 0x20)
        return json_scan_fail(scan, "control character in a string");

    const size_t length = text_character_length(rest);
    scan->at += length;
    return length > 0 || json_scan_fail(scan, "not UTF-8");
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

bool json_scan_string(struct json_scan *scan)
{
    scan->at++;
    for (;;) {
        const unsigned char *at = scan->at;

        while (at < scan->end && is_plain(*at))
            at++;
        scan->at = at;
        if (json_scan_peek(scan) == '"') {
            scan->at++;
            return true;
        }
        if (!scan_special(scan))
            return false;
    }
}

static bool scan_digits(struct json_scan *scan)
{
    if (!is_digit(json_scan_peek(scan)))
        return json_scan_fail(scan, "expected a digit");
    while (is_digit(json_scan_peek(scan)))
        scan->at++;
    return true;
}

bool json_scan_number(struct json_scan *scan)
{
    if (json_scan_peek(scan) == '-')
        scan->at++;
    const bool leads_with_zero = json_scan_peek(scan) == '0';
    const unsigned char *const first = scan->at;
    if (!scan_digits(scan))
        return false;
    if (leads_with_zero && scan->at - first > 1) {
        scan->at = first;
        return json_scan_fail(scan, "a number does not start with 0");
    }
    if (json_scan_peek(scan) == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    if (json_scan_peek(scan) != 'e' && json_scan_peek(scan) != 'E')
        return true;
    scan->at++;
    if (json_scan_peek(scan) == '+' || json_scan_peek(scan) == '-')
        scan->at++;
    return scan_digits(scan);
}

static bool scan_word(struct json_scan *scan, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return json_scan_fail(scan, "expected a value");
    scan->at += length;
    return true;
}

static bool scan_scalar(struct json_scan *scan)
{
    const int c = json_scan_peek(scan);

    if (c == '"')
        return json_scan_string(scan);
    if (c == '-' || is_digit(c))
        return json_scan_number(scan);
    if (c == 't')
        return scan_word(scan, "true");
    if (c == 'f')
        return scan_word(scan, "false");
    return scan_word(scan, "null");
}

bool json_scan_name(struct json_scan *scan)
{
    json_scan_space(scan);
    if (json_scan_peek(scan) != '"')
        return json_scan_fail(scan, "expected a name in quotes");
    return json_scan_string(scan);
}

bool json_scan_colon(struct json_scan *scan)
{
    return json_scan_accept(scan, ':') || json_scan_fail(scan, "expected ':'");
}

static char innermost(const struct json_scan *scan)
{
    return scan->closing[scan->depth - 1];
}

/* What stands before a value inside the innermost brackets. */
static bool scan_label(struct json_scan *scan)
{
    return innermost(scan) == ']' || (json_scan_name(scan) && json_scan_colon(scan));
}

bool json_scan_open(struct json_scan *scan)
{
    if (scan->depth == JSON_DEPTH_MAX)
        return json_scan_fail(scan, "nested too deeply");
    scan->closing[scan->depth++] = *scan->at == '{' ? '}' : ']';
    scan->at++;
    return true;
}

/* The start of a value: all of a scalar, or a bracket. After the bracket a value follows, unless
 * it is closed at once. */
static bool scan_head(struct json_scan *scan, bool *value_follows_out)
{
    *value_follows_out = false;
    json_scan_space(scan);
    if (json_scan_peek(scan) != '{' && json_scan_peek(scan) != '[')
        return scan_scalar(scan);
    if (!json_scan_open(scan))
        return false;
    json_scan_space(scan);
    if (json_scan_peek(scan) == innermost(scan))
        return true;
    *value_follows_out = true;
    return scan_label(scan);
}

/* What is behind a value: brackets that close, until a comma, behind which another value follows,
 * or until no more than `depth` are open. */
static bool scan_tail(struct json_scan *scan, size_t depth)
{
    while (scan->depth > depth) {
        if (json_scan_accept(scan, ','))
            return scan_label(scan);
        if (!json_scan_accept(scan, innermost(scan)))
            return json_scan_fail(scan, innermost(scan) == '}' ? "expected ',' or '}'"
                                                               : "expected ',' or ']'");
        scan->depth--;
    }
    return true;
}

bool json_scan_value(struct json_scan *scan)
{
    const size_t depth = scan->depth;
    bool value_follows = false;

    do {
        if (!scan_head(scan, &value_follows))
            return false;
        if (!value_follows && !scan_tail(scan, depth))
            return false;
    } while (scan->depth > depth);
    return true;
}

bool json_scan_end(struct json_scan *scan)
{
    json_scan_space(scan);
    return scan->at == scan->end || json_scan_fail(scan, "expected nothing more");
}
