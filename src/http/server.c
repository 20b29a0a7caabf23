/*
 * server.c - an HTTP server for one process: a request in, a response out.
 *
 * libmicrohttpd has an epoll of its own, which our loop watches; it waits for nothing itself, and
 * has no thread and no clock. Deadlines are ours: its own begin anew with every byte.
 *
 * Invariants:
 *   - `overdue` is set for the first deadline or an earlier moment, never for a later one.
 *   - The daemon is not stopped while a connection is suspended: it would panic.
 */
#include "http/server.h"

#include "base/clock.h"
#include "base/error.h"
#include "http/arrivals.h"
#include "http/exchange.h"
#include "http/inside.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

/* For each connection: a head of 8 KiB, its cookies once more, a table of its headers, and the
 * head of the answer. It is wiped between requests, so all of it is real memory. */
#define CONNECTION_MEMORY ((size_t)20 * 1024)

/* How often the daemon is run before others in the loop have their turn. */
#define ROUNDS 8

/* How long it rests when it wants to run and gets nowhere: it spins over a client whose next byte
 * does not fit, such as one with an endless extension of a chunk. */
#define REST (20 * USEC_PER_MSEC)

static bool has_more(const struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout = 0;

    return MHD_get_timeout(server->daemon, &timeout) == MHD_YES && timeout == 0;
}

static void run_daemon(struct http_server *server)
{
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t turns = server->turns;

        MHD_run(server->daemon);
        if (!has_more(server))
            return;
        if (i == ROUNDS - 1)
            loop_set_timer(server->loop, &server->again,
                           server->turns == turns ? clock_boot() + REST : 0);
    }
}

/* The last thing that is done: it may close the server. */
static void run(struct http_server *server)
{
    const struct http_handler *handler = &server->handler;

    run_daemon(server);
    if (!server->is_retiring || server->is_retired || server->crowd.count > 0)
        return;
    server->is_retired = true;
    if (handler->retired)
        handler->retired(handler->context);
}

static void on_events(void *context, unsigned events)
{
    (void)events;
    run(context);
}

static void on_again(void *context)
{
    run(context);
}

static void on_overdue(void *context)
{
    http_server_tick(context, clock_boot());
}

static void arrive(struct http_server *server, struct MHD_Connection *mhd, void **place)
{
    struct http_connection *connection = server->arriving;

    server->arriving = NULL;
    connection->mhd = mhd;
    *place = connection;
    http_crowd_add(&server->crowd, connection);
    http_server_enter(connection, HTTP_FRESH, 0);
}

static void depart(struct http_server *server, struct http_connection *connection)
{
    http_crowd_remove(&server->crowd, connection);
    if (connection->is_talking && connection->phase != HTTP_CLOSING)
        http_linger_begin(server->lingers, server->loop, connection->fd);
    free(connection);
}

static void on_connection(void *context, struct MHD_Connection *mhd, void **place,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;

    server->turns++;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        arrive(server, mhd, place);
    else
        depart(server, *place);
}

/* Escapes stay as they are: path.h and query.h read them, and know a %00 when they see one. */
static size_t leave_escaped(void *context, struct MHD_Connection *mhd, char *text)
{
    size_t length = 0;

    (void)context;
    (void)mhd;
    while (text[length] != '\0')
        length++;
    return length;
}

static bool start_daemon(struct http_server *server, struct error *err)
{
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
        http_exchange_step, server, MHD_OPTION_CONNECTION_LIMIT, (unsigned)INT_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_URI_LOG_CALLBACK,
        http_exchange_begin, server, MHD_OPTION_NOTIFY_COMPLETED, http_exchange_end, server,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, server, MHD_OPTION_END);
    if (!server->daemon)
        return error_set(err, TH_E_INTERNAL, "start libmicrohttpd");
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);

    server->events =
        (struct loop_watch){.fd = info->epoll_fd, .call = on_events, .context = server};
    return loop_watch(server->loop, &server->events, LOOP_READ, err);
}

bool http_server_open(struct loop *loop, const struct http_server_options *options,
                      struct http_server **server_out, struct error *err)
{
    struct http_server *server = calloc(1, sizeof *server);

    if (!server)
        return error_no_memory(err);
    server->loop = loop;
    server->handler = options->handler;
    server->limits = options->limits;
    server->headers = options->headers;
    server->header_count = options->header_count;
    server->connections = options->connections;
    server->connections_per_address = options->connections_per_address;
    server->memory = options->memory;
    server->again = (struct loop_timer){.call = on_again, .context = server};
    server->overdue = (struct loop_timer){.call = on_overdue, .context = server};
    if (!start_daemon(server, err) ||
        !http_arrivals_open(server, options->listeners, options->listener_count, err)) {
        http_server_close(&server);
        return error_prefix(err, "open the HTTP server");
    }
    *server_out = server;
    return true;
}

/* Whoever has just come may have sent its first request already: it is answered. */
static void cut_idle(struct http_server *server)
{
    struct http_connection *next;

    for (struct http_connection *idle = server->crowd.idle.first; idle; idle = next) {
        next = idle->next;
        if (idle->phase == HTTP_IDLE)
            http_server_cut(idle);
    }
}

void http_server_retire(struct http_server *server)
{
    server->is_retiring = true;
    http_arrivals_close(server);
    cut_idle(server);
    http_server_wake(server);
}

void http_server_close(struct http_server **server_of)
{
    struct http_server *server = *server_of;

    if (!server)
        return;
    if (server->listeners)
        http_arrivals_close(server);
    loop_unwatch(server->loop, &server->events);
    for (struct http_connection *connection = server->crowd.busy.first; connection;
         connection = connection->next) {
        if (connection->exchange)
            http_exchange_resume(connection->exchange);
    }
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    http_linger_end(server->lingers);
    assert(server->crowd.count == 0 && server->memory_used == 0);
    loop_clear_timer(server->loop, &server->again);
    loop_clear_timer(server->loop, &server->overdue);
    free(server);
    *server_of = NULL;
}

static usec_t deadline_of(const struct http_connection *connection)
{
    return http_deadline(&connection->server->limits, connection->phase, connection->since,
                         connection->moved);
}

/* The first deadline of those in a line, after whoever is over it was cut off. */
static usec_t tick_line(struct http_connection *first, usec_t now)
{
    usec_t next = USEC_MAX;

    for (struct http_connection *connection = first, *after; connection; connection = after) {
        const usec_t deadline = deadline_of(connection);

        after = connection->next;
        if (deadline <= now)
            http_server_cut(connection);
        else if (deadline < next)
            next = deadline;
    }
    return next;
}

void http_server_tick(struct http_server *server, usec_t now)
{
    const usec_t busy = tick_line(server->crowd.busy.first, now);
    const usec_t idle = tick_line(server->crowd.idle.first, now);
    const usec_t next = busy < idle ? busy : idle;

    if (next < USEC_MAX)
        loop_set_timer(server->loop, &server->overdue, next);
}

unsigned http_server_connections(const struct http_server *server)
{
    return server->crowd.count;
}

size_t http_server_memory(const struct http_server *server)
{
    return server->memory_used;
}

void http_server_wake(struct http_server *server)
{
    loop_set_timer(server->loop, &server->again, 0);
}

void http_server_enter(struct http_connection *connection, enum http_phase phase, bytes_t moved)
{
    struct http_server *server = connection->server;

    if (connection->phase == HTTP_CLOSING)
        return;
    http_crowd_move(&server->crowd, connection, phase);
    connection->since = clock_boot();
    connection->moved = moved;
    const usec_t deadline = deadline_of(connection);

    if (deadline < USEC_MAX && (!server->overdue.is_on || deadline < server->overdue.at))
        loop_set_timer(server->loop, &server->overdue, deadline);
}

void http_server_progress(struct http_connection *connection, usec_t since, bytes_t moved)
{
    connection->since = since;
    connection->moved = moved;
}

void http_server_cut(struct http_connection *connection)
{
    if (connection->phase == HTTP_CLOSING)
        return;
    http_server_enter(connection, HTTP_CLOSING, 0);
    http_connection_shut(connection);
}

size_t http_server_room(const struct http_server *server)
{
    return server->memory > server->memory_used ? server->memory - server->memory_used : 0;
}

bool http_server_charge(struct http_server *server, size_t size)
{
    if (size > http_server_room(server))
        return false;
    server->memory_used += size;
    return true;
}

void http_server_refund(struct http_server *server, size_t size)
{
    assert(size <= server->memory_used);
    server->memory_used -= size;
}
