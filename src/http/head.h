/*
 * head.h - what a request's head may not be.
 *
 * Two programs that read the same bytes as different requests are how requests are smuggled past
 * a proxy. So whatever has a second reading is refused, and the connection closed.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "http/response.h"

#define HTTP_HEAD_LENGTH  ((size_t)8 * 1024)
#define HTTP_HEAD_HEADERS 100

struct http_head {
    const char *method, *target, *version; /* "GET", "/a?b", "HTTP/1.1" */
    struct http_header headers[HTTP_HEAD_HEADERS];
    size_t count;
};

/* NULL if all is well, else what is wrong, for the client. */
const char *http_head_defect(const struct http_head *head);

/* How long the body is, by a head without defects. */
bytes_t http_head_body_length(const struct http_head *head);

/* Whether the client waits to be asked for its body. */
bool http_head_expects_continue(const struct http_head *head);

#endif
