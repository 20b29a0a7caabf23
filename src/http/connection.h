/*
 * connection.h - a client's connection: what it is doing, and since when.
 *
 * libmicrohttpd owns the socket; this is what it does not keep, or does not tell.
 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include "http/deadline.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct MHD_Connection;
struct http_exchange;
struct http_server;

struct http_connection {
    struct http_server *server;
    struct MHD_Connection *mhd;
    struct http_exchange *exchange; /* NULL between requests */
    int fd; /* libmicrohttpd's, until it says that the connection is closed */

    enum http_phase phase;
    usec_t since;
    bytes_t moved; /* see http_deadline() */

    bool is_talking; /* it was answered before it had said everything */

    struct sockaddr_storage peer;
    socklen_t peer_length;
    struct in6_addr address; /* of the peer, if it is counted */
    bool is_counted;

    struct http_connection *previous, *next; /* in a line of its crowd */
    struct http_connection *neighbour;       /* in its place of the crowd's table */
};

/* Free to go: nothing has been asked, as far as we know. */
bool http_connection_is_idle(const struct http_connection *connection);

/* Whether the other end is closed, for what it sends at least. */
bool http_connection_has_left(const struct http_connection *connection);

/* Both ends: libmicrohttpd finds it closed with its next event. */
void http_connection_shut(struct http_connection *connection);

#endif
