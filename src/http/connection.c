/*
 * connection.c - a client's connection: what it is doing, and since when.
 */
#include "http/connection.h"

#include <poll.h>

bool http_connection_is_idle(const struct http_connection *connection)
{
    return connection->phase == HTTP_FRESH || connection->phase == HTTP_IDLE;
}

/* Not by recv(MSG_PEEK): a client that has sent its next request already, and left then, would
 * be there for ever. */
bool http_connection_has_left(const struct http_connection *connection)
{
    struct pollfd end = {.fd = connection->fd, .events = POLLRDHUP};

    return poll(&end, 1, 0) > 0;
}

void http_connection_shut(struct http_connection *connection)
{
    shutdown(connection->fd, SHUT_RDWR);
}
