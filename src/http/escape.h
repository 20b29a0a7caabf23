/*
 * escape.h - %41 is an A.
 */
#ifndef HTTP_ESCAPE_H
#define HTTP_ESCAPE_H

#include "base/base.h"

enum http_plus {
    HTTP_PLUS_IS_PLUS,  /* in a path */
    HTTP_PLUS_IS_SPACE, /* in a query */
};

/* Writes the unescaped text and a NUL to `out`, which has room for length + 1 bytes. False for an
 * escape without two digits, and for a NUL. */
bool http_unescape(const char *text, size_t length, enum http_plus plus, char *out) MUST_CHECK;

/* Whether http_unescape() takes it. */
bool http_escape_is_whole(const char *text);

#endif
