/*
 * arrivals.h - new connections, and who has to go for them.
 */
#ifndef HTTP_ARRIVALS_H
#define HTTP_ARRIVALS_H

#include "base/base.h"

struct error;
struct http_server;

bool http_arrivals_open(struct http_server *server, const int *listeners, size_t count,
                        struct error *err) MUST_CHECK;

/* Nobody is accepted from here on. */
void http_arrivals_close(struct http_server *server);

#endif
