/*
 * response.h - what a client is told.
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "base/base.h"

struct http_request;

#define HTTP_RESPONSE_HEADERS 24

struct http_header {
    const char *name, *value;
};

enum http_body {
    HTTP_COPIED,  /* the body may go once the call is over */
    HTTP_TAKEN,   /* it came from malloc() and is freed by the server, whatever happens */
    HTTP_LASTING, /* it is there as long as the process */
};

struct http_response {
    int status;
    const char *type; /* Content-Type; NULL: none */
    struct http_header headers[HTTP_RESPONSE_HEADERS];
    size_t header_count;
    struct bytes body;
    enum http_body body_is;
    bool close; /* the connection, after this */

    /* Tells whether all of it was handed to the client's socket, while the client was there. May
     * be NULL. */
    void (*sent)(void *context, bool was_sent);
    void *context;
};

/* Name and value have to be there until the response is used. No value may have a line break. */
void http_response_add(struct http_response *response, const char *name, const char *value);

/* Sends it, and the request is gone. Its memory is limited: if there is no room for a long
 * response, the client gets a 503 instead, and `sent` says false. */
void http_answer(struct http_request *request, const struct http_response *response);

/* Closes the connection without an answer, and the request is gone. */
void http_drop(struct http_request *request);

#endif
