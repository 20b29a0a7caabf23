/*
 * escape.c - %41 is an A.
 */
#include "http/escape.h"

#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that "%41" stands for; 0, which may not be, if it is none. */
static char escaped(const char *text, size_t length)
{
    if (length < 3)
        return '\0';
    const int high = digit(text[1]), low = digit(text[2]);

    if (high < 0 || low < 0)
        return '\0';
    return (char)(high * 16 + low);
}

bool http_unescape(const char *text, size_t length, enum http_plus plus, char *out)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (c == '%') {
            c = escaped(text + i, length - i);
            i += 2;
        } else if (c == '+' && plus == HTTP_PLUS_IS_SPACE) {
            c = ' ';
        }
        if (c == '\0')
            return false;
        *out++ = c;
    }
    *out = '\0';
    return true;
}

bool http_escape_is_whole(const char *text)
{
    for (const char *at = strchr(text, '%'); at; at = strchr(at + 1, '%')) {
        if (escaped(at, strnlen(at, 3)) == '\0')
            return false;
    }
    return true;
}
