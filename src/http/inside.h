/*
 * inside.h - what the files of the server share, and nobody else sees.
 */
#ifndef HTTP_INSIDE_H
#define HTTP_INSIDE_H

#include "http/crowd.h"
#include "http/linger.h"
#include "http/server.h"
#include "process/loop.h"

struct MHD_Daemon;
struct http_stream;

struct http_listener {
    struct http_server *server;
    struct loop_watch watch;
};

struct http_server {
    struct loop *loop;
    struct http_handler handler;
    struct http_limits limits;
    const struct http_header *headers;
    size_t header_count;
    unsigned connections, connections_per_address;
    size_t memory, memory_used;

    struct MHD_Daemon *daemon;
    struct loop_watch events;  /* of the daemon's epoll */
    struct loop_timer again;   /* the daemon has more to do than it did */
    struct loop_timer overdue; /* set for the first deadline, or earlier */
    uint64_t turns;            /* grows whenever the daemon gets on with something */

    struct http_listener *listeners; /* owned, their descriptors are not */
    size_t listener_count;
    struct loop_timer relisten;       /* after we ran out of descriptors */
    struct http_connection *arriving; /* handed to the daemon, which has not taken it yet */

    struct http_crowd crowd;
    struct http_linger lingers[HTTP_LINGERING];
    bool is_retiring, is_retired;
};

/* The daemon has something to do that its epoll does not know of: a connection was resumed. */
void http_server_wake(struct http_server *server);

/* The connection is doing that from now on. */
void http_server_enter(struct http_connection *connection, enum http_phase phase, bytes_t moved);

/* The same phase since then; its deadline may only move further away. */
void http_server_progress(struct http_connection *connection, usec_t since, bytes_t moved);

void http_server_cut(struct http_connection *connection);

/* How much more of bodies and answers fits; it may be nothing and more is in use even so. */
size_t http_server_room(const struct http_server *server);

/* False if so much more does not fit. */
bool http_server_charge(struct http_server *server, size_t size) MUST_CHECK;
void http_server_refund(struct http_server *server, size_t size);

/* The client has left; and: its exchange is at its end. */
void http_stream_cut(struct http_stream *stream);
void http_stream_over(struct http_stream *stream);

#endif
