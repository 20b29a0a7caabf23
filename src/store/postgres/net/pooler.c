/*
 * pooler.c - finds out whether a session is ours alone.
 *
 * A pooler makes up the process number that it greets us with, so the server's own answer differs.
 * Only then a second connection is opened, while ours is idle between two transactions: if it is
 * given the same session, sessions are shared.
 */
#include "store/postgres/net/pooler.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/postgres/net/connection.h"
#include "store/postgres/net/dial.h"
#include "store/postgres/net/wire.h"

#include <stdlib.h>
#include <string.h>

#define ASK_PID "SELECT pg_backend_pid()"

static bool ask_pid(struct postgres *postgres, usec_t deadline, int64_t *pid_out, struct error *err)
{
    PGresult *result = NULL;

    if (!pg_connection_ask(postgres, ASK_PID, deadline, &result, err))
        return false;
    bool is_number = text_to_int(PQgetvalue(result, 0, 0), 1, INT64_MAX, pid_out);
    PQclear(result);
    return is_number || error_set(err, TH_E_INTERNAL, "postgres: the server has no process");
}

/* 0 when there is no answer: a pooler may have none left for others. */
static int64_t pid_behind(PGconn *conn, usec_t deadline)
{
    PGresult *result = NULL;
    int64_t pid = 0;

    if (PQsendQuery(conn, ASK_PID) != 1 || !pg_wire_flush(conn, deadline) ||
        !pg_wire_result(conn, deadline, &result) || PQresultStatus(result) != PGRES_TUPLES_OK ||
        !text_to_int(PQgetvalue(result, 0, 0), 1, INT64_MAX, &pid))
        pid = 0;
    PQclear(result);
    return pid;
}

/* The number that somebody else is served by who comes now; 0 when nobody else gets in. */
static int64_t ask_as_another(const struct postgres *postgres, usec_t deadline)
{
    CLEANUP(buffer_done) struct buffer ignored = BUFFER(ERROR_TEXT_SIZE);
    PGconn *other = NULL;

    if (!pg_dial_same(postgres->conninfo, postgres->caller, postgres->conn, deadline, &other,
                      &ignored))
        return 0;
    int64_t pid = pid_behind(other, deadline);
    PQfinish(other);
    return pid;
}

bool pg_pooler_check(struct postgres *postgres, usec_t deadline, struct error *err)
{
    usec_t half_time;
    int64_t pid;

    if (!ask_pid(postgres, deadline, &pid, err))
        return false;
    if (pid == PQbackendPID(postgres->conn))
        return true;
    half_time = clock_boot() + (deadline - clock_boot()) / 2;
    if (pid != ask_as_another(postgres, half_time))
        return true;
    return error_set(err, TH_E_INVALID,
                     "postgres: a pooler gives our session to others between transactions: use "
                     "pool_mode=session for this user in PgBouncer, or connect to the server "
                     "itself");
}
