/*
 * wire.h - libpq without blocking: what was queued is sent and what comes back is read, within a
 * deadline (boot time).
 */
#ifndef POSTGRES_WIRE_H
#define POSTGRES_WIRE_H

#include "base/base.h"

#include <libpq-fe.h>

/* Which of poll()'s events have come; 0 when none has by the deadline. */
int pg_wire_poll(const PGconn *conn, short events, usec_t deadline) MUST_CHECK;

/* False when the connection broke or the deadline has passed; the connection is of no use then. */
bool pg_wire_flush(PGconn *conn, usec_t deadline) MUST_CHECK;

/* The next result, or NULL between two statements; false as above. */
bool pg_wire_result(PGconn *conn, usec_t deadline, PGresult **result_out) MUST_CHECK;

/* Reads what has come by itself; false when the other end is gone. */
bool pg_wire_is_alive(PGconn *conn) MUST_CHECK;

#endif
