/*
 * wire.c - libpq without blocking.
 */
#include "store/postgres/net/wire.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>

int pg_wire_poll(const PGconn *conn, short events, usec_t deadline)
{
    struct pollfd poll_fd = {.fd = PQsocket(conn), .events = events};
    int ready;

    do
        ready = poll(&poll_fd, 1, clock_poll_timeout(deadline - clock_boot()));
    while (ready < 0 && errno == EINTR);
    return ready > 0 ? poll_fd.revents : 0;
}

static bool await(PGconn *conn, short events, usec_t deadline)
{
    int came = pg_wire_poll(conn, events, deadline);

    return came != 0 && ((came & POLLIN) == 0 || PQconsumeInput(conn) == 1);
}

bool pg_wire_flush(PGconn *conn, usec_t deadline)
{
    int left;

    /* Reads as well: the server may wait for us to take its answers before it takes more. */
    while ((left = PQflush(conn)) == 1)
        if (!await(conn, POLLIN | POLLOUT, deadline))
            return false;
    return left == 0;
}

bool pg_wire_result(PGconn *conn, usec_t deadline, PGresult **result_out)
{
    while (PQisBusy(conn))
        if (!await(conn, POLLIN, deadline))
            return false;
    *result_out = PQgetResult(conn);
    return *result_out || PQstatus(conn) == CONNECTION_OK;
}

bool pg_wire_is_alive(PGconn *conn)
{
    return PQstatus(conn) == CONNECTION_OK && PQconsumeInput(conn) == 1;
}
