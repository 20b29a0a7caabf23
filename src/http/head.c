/*
 * head.c - what a request's head may not be.
 */
#include "http/head.h"

#include "base/text.h"
#include "http/escape.h"
#include "http/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What frames the body or decides about rights has one reading only if there is one of it. */
static const char *const single[] = {
    "Host",   "Content-Length", "Transfer-Encoding", "Expect", "Content-Type",
    "Origin", "Sec-Fetch-Site", "Authorization",     "Cookie", "Idempotency-Key",
};

static bool is_token(const char *text)
{
    static const char characters[] = "!#$%&'*+-.^_`|~0123456789"
                                     "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return text[0] != '\0' && text[strspn(text, characters)] == '\0';
}

/* Visible characters of ASCII, and whatever UTF-8 is made of. */
static bool is_visible(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return true;
    }
    return false;
}

static const char *header(const struct http_head *head, const char *name)
{
    for (size_t i = 0; i < head->count; i++) {
        if (strcasecmp(head->headers[i].name, name) == 0)
            return head->headers[i].value;
    }
    return NULL;
}

static size_t count(const struct http_head *head, const char *name)
{
    size_t found = 0;

    for (size_t i = 0; i < head->count; i++)
        found += strcasecmp(head->headers[i].name, name) == 0;
    return found;
}

static const char *line_defect(const struct http_head *head)
{
    if (!is_token(head->method))
        return "the method is no word";
    if (head->target[0] != '/' || !is_visible(head->target))
        return "the target is no path";
    if (!http_escape_is_whole(head->target))
        return "the target has a broken escape, or %00";
    return NULL;
}

static const char *field_defect(const struct http_head *head)
{
    for (size_t i = 0; i < head->count; i++) {
        if (!is_token(head->headers[i].name))
            return "a header's name is no word";
        if (has_control(head->headers[i].value))
            return "a header's value has a control character";
    }
    for (size_t i = 0; i < COUNT_OF(single); i++) {
        if (count(head, single[i]) > 1)
            return "a header that may be there once is there twice";
    }
    return NULL;
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static const char *framing_defect(const struct http_head *head)
{
    const char *length = header(head, "Content-Length");
    const char *encoding = header(head, "Transfer-Encoding");
    const bool is_old = text_equal(head->version, "HTTP/1.0");

    if (!is_old && !header(head, "Host"))
        return "there is no Host";
    if (length && encoding)
        return "there are both Content-Length and Transfer-Encoding";
    if (length && !is_number(length))
        return "Content-Length is no number";
    if (encoding && (is_old || strcasecmp(encoding, "chunked") != 0))
        return "Transfer-Encoding is not \"chunked\"";
    return NULL;
}

const char *http_head_defect(const struct http_head *head)
{
    const char *defect = line_defect(head);

    if (!defect)
        defect = field_defect(head);
    if (!defect)
        defect = framing_defect(head);
    return defect;
}

bytes_t http_head_body_length(const struct http_head *head)
{
    const char *length = header(head, "Content-Length");
    int64_t value = 0;

    if (header(head, "Transfer-Encoding"))
        return HTTP_LENGTH_UNKNOWN;
    if (length && !text_to_int(length, 0, INT64_MAX, &value))
        return HTTP_LENGTH_UNKNOWN - 1; /* a number, and larger than any limit */
    return (bytes_t)value;
}

bool http_head_expects_continue(const struct http_head *head)
{
    const char *expect = header(head, "Expect");

    return expect && strcasecmp(expect, "100-continue") == 0;
}
