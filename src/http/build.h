/*
 * build.h - a response as libmicrohttpd wants it.
 */
#ifndef HTTP_BUILD_H
#define HTTP_BUILD_H

#include "base/base.h"

struct MHD_Response;
struct http_response;
struct http_server;

/* The body is copied, taken or pointed to, as it asks for; a taken one is freed also on failure.
 * NULL when out of memory, or for a header that is none. */
struct MHD_Response *http_build(const struct http_server *server,
                                const struct http_response *response);

/* The same for a response that has its body's headers only. False if that fails. */
bool http_build_head(const struct http_server *server, const struct http_response *response,
                     struct MHD_Response *built) MUST_CHECK;

#endif
