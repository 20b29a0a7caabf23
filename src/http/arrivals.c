/*
 * arrivals.c - new connections, and who has to go for them.
 *
 * We accept and libmicrohttpd does not: it knows one listener, refuses newcomers when it is full
 * instead of the idle, and counts loopback like any address.
 */
#include "http/arrivals.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "http/inside.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCEPTED_AT_ONCE 16

/* How long nobody is accepted when there is no descriptor left, and nobody idle to take it from. */
#define PAUSE (100 * USEC_PER_MSEC)

#define ANSWER_MAX ((size_t)4096)

/* To whoever has to go at once: as far as it can be sent, and the client may not have asked yet. */
static void say_full(const struct http_server *server, int fd)
{
    CLEANUP(buffer_done) struct buffer answer = BUFFER(ANSWER_MAX);

    buffer_text(&answer, "HTTP/1.1 503 Service Unavailable\r\n"
                         "Retry-After: 1\r\n"
                         "Content-Length: 0\r\n"
                         "Connection: close\r\n");
    for (size_t i = 0; i < server->header_count; i++)
        buffer_printf(&answer, "%s: %s\r\n", server->headers[i].name, server->headers[i].value);
    buffer_text(&answer, "\r\n");
    (void)!send(fd, buffer_str(&answer), answer.length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool watch_all(struct http_server *server, struct error *err)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (!loop_watch(server->loop, &server->listeners[i].watch, LOOP_READ, err))
            return false;
    }
    return true;
}

static void unwatch_all(struct http_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        loop_unwatch(server->loop, &server->listeners[i].watch);
}

static void listen_again(void *context)
{
    struct http_server *server = context;
    struct error err = {0};

    if (!watch_all(server, &err))
        loop_set_timer(server->loop, &server->relisten, clock_boot() + PAUSE);
}

/* False if all the others are at work. */
static bool make_room(struct http_server *server, const struct http_connection *newcomer)
{
    struct http_connection *leaver = NULL;

    if (!http_crowd_room(&server->crowd, newcomer, server->connections,
                         server->connections_per_address, &leaver))
        return false;
    if (leaver)
        http_server_cut(leaver);
    return true;
}

/* The daemon has the socket from here on, whatever happens. */
static void hand_over(struct http_server *server, struct http_connection *connection)
{
    const struct sockaddr *peer = (const struct sockaddr *)&connection->peer;

    server->arriving = connection;
    const enum MHD_Result result =
        MHD_add_connection(server->daemon, connection->fd, peer, connection->peer_length);
    /* If it failed later than that, it was taken and is closed already. */
    if (result != MHD_YES && server->arriving)
        free(connection);
    server->arriving = NULL;
}

static void welcome(struct http_server *server, const struct http_connection *newcomer)
{
    struct http_connection *connection = malloc(sizeof *connection);

    if (!connection || !make_room(server, newcomer)) {
        say_full(server, newcomer->fd);
        close(newcomer->fd);
        free(connection);
        return;
    }
    *connection = *newcomer;
    hand_over(server, connection);
}

static bool somebody_waits(int listener)
{
    struct pollfd end = {.fd = listener, .events = POLLIN};

    return poll(&end, 1, 0) > 0;
}

/* accept() fails for want of a descriptor also when nobody waits. */
static void make_descriptor(struct http_server *server, int listener)
{
    struct http_connection *leaver = http_crowd_idlest(&server->crowd);

    if (!somebody_waits(listener))
        return;
    if (leaver)
        http_server_cut(leaver);
    unwatch_all(server);
    loop_set_timer(server->loop, &server->relisten, clock_boot() + PAUSE);
}

/* False when there is nobody to accept, or no way to. */
static bool accept_one(struct http_server *server, int listener)
{
    struct http_connection newcomer = {.server = server, .peer_length = sizeof newcomer.peer};

    newcomer.fd = accept4(listener, (struct sockaddr *)&newcomer.peer, &newcomer.peer_length,
                          SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (newcomer.fd >= 0) {
        newcomer.since = clock_boot();
        newcomer.is_counted = http_crowd_address(&newcomer.peer, &newcomer.address);
        welcome(server, &newcomer);
        return true;
    }
    if (errno == EAGAIN)
        return false;
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
        return true; /* that one has left meanwhile */
    make_descriptor(server, listener);
    return false;
}

static void accept_some(void *context, unsigned events)
{
    const struct http_listener *listener = context;

    (void)events;
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        if (!accept_one(listener->server, listener->watch.fd))
            return;
    }
}

bool http_arrivals_open(struct http_server *server, const int *listeners, size_t count,
                        struct error *err)
{
    server->relisten = (struct loop_timer){.call = listen_again, .context = server};
    server->listeners = calloc(count + 1, sizeof *server->listeners);
    if (!server->listeners)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct http_listener *listener = &server->listeners[i];

        listener->server = server;
        listener->watch =
            (struct loop_watch){.fd = listeners[i], .call = accept_some, .context = listener};
    }
    server->listener_count = count;
    return watch_all(server, err);
}

void http_arrivals_close(struct http_server *server)
{
    unwatch_all(server);
    loop_clear_timer(server->loop, &server->relisten);
    free(server->listeners);
    server->listeners = NULL;
    server->listener_count = 0;
}
