/*
 * connection.h - one connection to a PostgreSQL server, made anew when it is lost.
 */
#ifndef POSTGRES_CONNECTION_H
#define POSTGRES_CONNECTION_H

#include "base/base.h"
#include "base/error.h"
#include "store/driver.h"
#include "store/postgres/net/bell.h"
#include "store/postgres/ops/scan_start.h"

#include <libpq-fe.h>

struct pg_begun;
struct pg_statement;

struct postgres {
    struct store base;         /* first */
    char *conninfo;            /* owned; with secrets */
    char *schema;              /* owned */
    char *caller;              /* owned; application_name, unless the user says otherwise */
    PGconn *conn;              /* NULL until it is needed, and after it was lost */
    bool *prepared;            /* owned; by enum sql_statement, on this connection */
    bool only_offers;          /* our user may enqueue at most, and only what is checked there */
    struct pg_statement *sent; /* the oldest that is out; lost with the connection */
    struct pg_begun *begun;    /* owned; exchanges that were begun, the oldest first */
    struct pg_bell bell;
    struct pg_scan_starts scan_starts;
};

/* Does not connect yet. NULL when out of memory. */
struct postgres *pg_connection_new(const char *conninfo, const char *schema,
                                   const char *caller) MUST_CHECK;
void pg_connection_free(struct postgres *postgres);

/* There is a connection, as far as we can know. */
bool pg_connection_ensure(struct postgres *postgres, usec_t deadline, struct error *err) MUST_CHECK;

/* It is of no use any more; the next call makes another one. */
void pg_connection_drop(struct postgres *postgres);

/* In milliseconds, of our sessions: the server gives up a little before we do, so that it is
 * certain that nothing was changed. */
int pg_connection_timeout(const struct postgres *postgres);

/* SQL that is used rarely; may be several statements. The result of the last one is for
 * PQclear(). Not inside of a transaction. */
bool pg_connection_ask(struct postgres *postgres, const char *sql, usec_t deadline,
                       PGresult **result_out, struct error *err) MUST_CHECK;
bool pg_connection_execute(struct postgres *postgres, const char *sql, usec_t deadline,
                           struct error *err) MUST_CHECK;

/* What the server said, with what to do about it. Returns false. */
bool pg_connection_error(const PGresult *result, struct error *err);

/* The connection broke or gave no answer. Returns false. */
bool pg_connection_lost(struct postgres *postgres, bool wrote, struct error *err);

#endif
