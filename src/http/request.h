/*
 * request.h - what a client asked for.
 *
 * A request is the handler's from handle() on until it is answered, and is there until then even
 * if the client is not.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "base/base.h"

struct error;
struct sockaddr;

#define HTTP_LENGTH_UNKNOWN UINT64_MAX

struct http_request {
    const char *method; /* "GET" for HEAD too: of its answer only the head is sent */
    bool is_head;
    const char *path;            /* as sent: see path.h */
    const char *query;           /* what came after the "?", as sent: see query.h; "" without */
    bytes_t length;              /* of the body, as announced; unknown if it comes in chunks */
    struct bytes body;           /* until the answer; {NULL, 0} without, and in admit() */
    const struct sockaddr *peer; /* AF_UNIX, AF_INET or AF_INET6 */
    void *data;                  /* the handler's own */
};

/* The value of a header, NULL without. Of those that mean something to the server or to rights
 * (head.h) there is one at most; of others this is the first. */
const char *http_request_header(const struct http_request *request, const char *name);

/* Whether the client has closed its end: nothing that is answered now can reach it. */
bool http_request_has_left(const struct http_request *request);

/* Calls once when the client leaves before it is answered. The request has to be answered even
 * so, or dropped. */
bool http_request_watch(struct http_request *request, void (*left)(void *context), void *context,
                        struct error *err) MUST_CHECK;

#endif
