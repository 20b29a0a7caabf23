/*
 * author.c - who pauses something, as whoever looks is told.
 */
#include "api/author.h"

#include "http/request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

static const char *address_of(const struct sockaddr *peer, char text[INET6_ADDRSTRLEN])
{
    const void *address = NULL;

    if (peer->sa_family == AF_INET)
        address = &((const struct sockaddr_in *)(const void *)peer)->sin_addr;
    else if (peer->sa_family == AF_INET6)
        address = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    return address && inet_ntop(peer->sa_family, address, text, INET6_ADDRSTRLEN) ? text : "unix";
}

const char *author_of(const struct http_request *request, const char *said, char text[AUTHOR_SIZE])
{
    char address[INET6_ADDRSTRLEN];

    if (said && said[0] != '\0')
        return said;
    snprintf(text, AUTHOR_SIZE, "http@%s", address_of(request->peer, address));
    return text;
}
