/*
 * pooler.c - finds out whether a session is ours alone.
 *
 * A pooler makes up the process number that it greets us with, so the server's own answer differs.
 * Only then a second connection is opened, while ours is idle between two transactions: if it is
 * given the same session, sessions are shared.
 */
#include "store/postgres/pooler.h"

#include "base/text.h"
#include "store/postgres/postgres_connection.h"

#include <stdlib.h>
#include <string.h>

#define ASK_PID "SELECT pg_backend_pid()"

static bool ask_pid(struct postgres *postgres, int64_t *pid_out, struct error *err)
{
    PGresult *result = NULL;

    if (!postgres_ask(postgres, ASK_PID, postgres_deadline(), &result, err))
        return false;
    bool is_number = text_to_int(PQgetvalue(result, 0, 0), 1, INT64_MAX, pid_out);
    PQclear(result);
    return is_number || error_set(err, TH_E_INTERNAL, "postgres: the server has no process");
}

/* The number that somebody else is served by who comes now; 0 when nobody else gets in. */
static int64_t ask_as_another(const struct postgres *postgres)
{
    const char *const names[] = {"connect_timeout", "dbname", NULL};
    const char *const values[] = {"2", postgres->conninfo, NULL};
    PGconn *other = PQconnectdbParams(names, values, 1);
    PGresult *result = PQstatus(other) == CONNECTION_OK ? PQexec(other, ASK_PID) : NULL;
    int64_t pid = 0;

    if (result == NULL || PQresultStatus(result) != PGRES_TUPLES_OK ||
        !text_to_int(PQgetvalue(result, 0, 0), 1, INT64_MAX, &pid))
        pid = 0;
    PQclear(result);
    PQfinish(other);
    return pid;
}

bool pooler_check(struct postgres *postgres, struct error *err)
{
    int64_t pid;

    if (!ask_pid(postgres, &pid, err))
        return false;
    if (pid == PQbackendPID(postgres->conn) || pid != ask_as_another(postgres))
        return true;
    return error_set(err, TH_E_INVALID,
                     "postgres: a pooler gives our session to others between transactions: use "
                     "pool_mode=session for this user in PgBouncer, or connect to the server "
                     "itself");
}
