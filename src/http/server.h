/*
 * server.h - an HTTP server for one process: a request in, a response out.
 *
 * It lives in the loop of its process, has no threads, and knows nothing of what it serves. What
 * is wrong with a request as such is answered here; everything else is the handler's.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "http/deadline.h"
#include "http/request.h"
#include "http/response.h"

struct error;
struct loop;

struct http_handler {
    void *context;

    /* After the head, before the body: the place for rights, and for how large a body may be.
     * False refuses; the refusal is used before this returns. A client that was refused is not
     * asked for its body, unless it is short. */
    bool (*admit)(void *context, struct http_request *request, size_t *body_max_out,
                  struct http_response *refusal_out);

    /* The request is complete, and the handler's until it is answered: at once or at any later
     * time, by http_answer(), http_stream_begin() or http_drop(). */
    void (*handle)(void *context, struct http_request *request);

    /* The words for what the server refuses by itself: 400, 413, 431, 503. The body is copied. */
    void (*explain)(void *context, int status, const char *reason,
                    struct http_response *response_out);

    /* After http_server_retire(): nobody is left. It may close the server. May be NULL. */
    void (*retired)(void *context);
};

struct http_server_options {
    const int *listeners; /* TCP or Unix; non-blocking; they stay the caller's to close */
    size_t listener_count;
    unsigned connections;             /* when there are more, the longest idle one has to go */
    unsigned connections_per_address; /* the same; loopback and Unix sockets are not counted */
    size_t memory;                    /* bodies and answers under way, in all; then 503 */
    struct http_limits limits;
    const struct http_header *headers; /* of every answer, unless it has one of that name */
    size_t header_count;
    struct http_handler handler;
};

#define HTTP_CONNECTIONS             1024
#define HTTP_CONNECTIONS_PER_ADDRESS 64
#define HTTP_MEMORY                  ((size_t)64 * 1024 * 1024)

struct http_server;

/* A connection is a descriptor: the process needs `connections` and a few more. */
bool http_server_open(struct loop *loop, const struct http_server_options *options,
                      struct http_server **server_out, struct error *err) MUST_CHECK;

/* Accepts nobody any more, closes who is idle, and everybody else with the answer. Streams are
 * for the handler to end. */
void http_server_retire(struct http_server *server);

/* Whoever is still connected is cut off: requests without an answer are gone, and streams hear
 * of it. Not from within a callback, but for `retired`. */
void http_server_close(struct http_server **server);

/* Cuts off those whose time is over at `now`. The server's own timer calls this. */
void http_server_tick(struct http_server *server, usec_t now);

/* How much there is of what is limited. */
unsigned http_server_connections(const struct http_server *server);
size_t http_server_memory(const struct http_server *server);

#endif
