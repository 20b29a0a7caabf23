/*
 * json_scan.c - JSON text part by part (RFC 8259).
 *
 * Nothing is recursive: the brackets that are open stand in an array as deep as JSON_DEPTH_MAX, and
 * `due` says which of four places the scan has come to.
 *
 *     due      is there                        and then is due
 *     VALUE    a scalar                        REST
 *              a bracket that opens            FIRST
 *     FIRST    a bracket that closes           REST
 *              a name, in an object            COLON
 *              otherwise as VALUE
 *     COLON    a colon, then as VALUE
 *     REST     a comma, then a name or value   COLON; as VALUE
 *              a bracket that closes           REST
 *              the end of the text             REST
 *
 * This is on the path of every job, so the plain bytes of strings have a loop of their own. What
 * is accepted can be decoded: invalid UTF-8 and halves of surrogate pairs are refused.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>
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

/* The next byte, or -1 at the end. */
static inline int peek(const struct json_scan *scan)
{
    return scan->at < scan->end ? *scan->at : -1;
}

static bool is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

int json_scan_peek(struct json_scan *scan)
{
    while (is_space(peek(scan)))
        scan->at++;
    return peek(scan);
}

/* ---- strings ---- */

/* Four hexadecimal digits. */
static bool scan_code_unit(struct json_scan *scan, unsigned *unit_out)
{
    *unit_out = 0;
    for (int i = 0; i < 4; i++) {
        const int c = peek(scan);
        const int letter = c | 0x20;

        if (!is_digit(c) && (letter < 'a' || letter > 'f'))
            return json_scan_fail(scan, "expected four hexadecimal digits");
        *unit_out = *unit_out << 4 | (unsigned)(is_digit(c) ? c - '0' : letter - 'a' + 10);
        scan->at++;
    }
    return true;
}

/* What follows \u: a character, or the first half of one and the second after another \u. */
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
    switch (peek(scan)) {
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

static bool scan_string(struct json_scan *scan)
{
    scan->at++;
    for (;;) {
        const unsigned char *at = scan->at;

        while (at < scan->end && is_plain(*at))
            at++;
        scan->at = at;
        if (peek(scan) == '"') {
            scan->at++;
            return true;
        }
        if (!scan_special(scan))
            return false;
    }
}

/* ---- numbers and words ---- */

static bool scan_digits(struct json_scan *scan)
{
    if (!is_digit(peek(scan)))
        return json_scan_fail(scan, "expected a digit");
    while (is_digit(peek(scan)))
        scan->at++;
    return true;
}

static bool scan_whole_part(struct json_scan *scan)
{
    const unsigned char *const first = scan->at;

    if (!scan_digits(scan))
        return false;
    if (*first != '0' || scan->at - first == 1)
        return true;
    scan->at = first;
    return json_scan_fail(scan, "a number does not start with 0");
}

static bool scan_number(struct json_scan *scan)
{
    if (peek(scan) == '-')
        scan->at++;
    if (!scan_whole_part(scan))
        return false;
    if (peek(scan) == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    if (peek(scan) != 'e' && peek(scan) != 'E')
        return true;
    scan->at++;
    if (peek(scan) == '+' || peek(scan) == '-')
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
    const int c = peek(scan);

    if (c == '"')
        return scan_string(scan);
    if (c == '-' || is_digit(c))
        return scan_number(scan);
    if (c == 't')
        return scan_word(scan, "true");
    if (c == 'f')
        return scan_word(scan, "false");
    return scan_word(scan, "null");
}

/* ---- parts ---- */

/* A part from `start` to where the scan is. */
static bool found(struct json_scan *scan, enum json_part part, const unsigned char *start,
                  enum json_due due)
{
    scan->part = part;
    scan->text = (struct bytes){start, (size_t)(scan->at - start)};
    scan->due = due;
    return true;
}

static char innermost(const struct json_scan *scan)
{
    return scan->closing[scan->depth - 1];
}

static bool next_name(struct json_scan *scan)
{
    const int c = json_scan_peek(scan);
    const unsigned char *const start = scan->at;

    if (c != '"')
        return json_scan_fail(scan, "expected a name in quotes");
    return scan_string(scan) && found(scan, JSON_PART_NAME, start, JSON_DUE_COLON);
}

static bool next_open(struct json_scan *scan)
{
    const unsigned char *const start = scan->at;

    if (scan->depth == JSON_DEPTH_MAX)
        return json_scan_fail(scan, "nested too deeply");
    scan->closing[scan->depth++] = *start == '{' ? '}' : ']';
    scan->at++;
    return found(scan, JSON_PART_OPEN, start, JSON_DUE_FIRST);
}

static bool next_close(struct json_scan *scan)
{
    scan->depth--;
    scan->at++;
    return found(scan, JSON_PART_CLOSE, scan->at - 1, JSON_DUE_REST);
}

static bool next_value(struct json_scan *scan)
{
    const int c = json_scan_peek(scan);
    const unsigned char *const start = scan->at;

    if (c == '{' || c == '[')
        return next_open(scan);
    return scan_scalar(scan) && found(scan, JSON_PART_SCALAR, start, JSON_DUE_REST);
}

static bool next_inside(struct json_scan *scan)
{
    return innermost(scan) == '}' ? next_name(scan) : next_value(scan);
}

static bool next_end(struct json_scan *scan)
{
    if (scan->at < scan->end)
        return json_scan_fail(scan, "expected nothing more");
    return found(scan, JSON_PART_END, scan->at, JSON_DUE_REST);
}

static bool next_rest(struct json_scan *scan, int c)
{
    if (scan->depth == 0)
        return next_end(scan);
    if (c == innermost(scan))
        return next_close(scan);
    if (c != ',')
        return json_scan_fail(scan, innermost(scan) == '}' ? "expected ',' or '}'"
                                                           : "expected ',' or ']'");
    scan->at++;
    return next_inside(scan);
}

bool json_scan_next(struct json_scan *scan)
{
    const int c = json_scan_peek(scan);

    switch (scan->due) {
    case JSON_DUE_VALUE:
        return next_value(scan);
    case JSON_DUE_FIRST:
        return c == innermost(scan) ? next_close(scan) : next_inside(scan);
    case JSON_DUE_COLON:
        if (c != ':')
            return json_scan_fail(scan, "expected ':'");
        scan->at++;
        return next_value(scan);
    case JSON_DUE_REST:
        return next_rest(scan, c);
    }
    abort(); /* no such place */
}

bool json_scan_whole(struct json_scan *scan)
{
    const unsigned char *const start = scan->text.data;
    const size_t depth = scan->depth;

    if (scan->part != JSON_PART_OPEN)
        return true;
    while (scan->depth >= depth) {
        if (!json_scan_next(scan))
            return false;
    }
    scan->text = (struct bytes){start, (size_t)(scan->at - start)};
    return true;
}

void json_add_compact(struct buffer *buffer, struct bytes text)
{
    struct json_scan scan = json_scan_of(text);

    while (scan.at < scan.end) {
        const unsigned char *const start = scan.at;

        /* Text that nobody checked is copied as well as it can be: the scan always moves on. */
        while (scan.at < scan.end && !is_space(*scan.at)) {
            if (*scan.at == '"')
                scan_string(&scan);
            else
                scan.at++;
        }
        buffer_add(buffer, start, (size_t)(scan.at - start));
        json_scan_peek(&scan);
    }
}
