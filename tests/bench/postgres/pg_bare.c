/*
 * pg_bare.c - libpq called directly.
 */
#include "bench/postgres/pg_bare.h"

#include "base/text.h"
#include "bench/bench.h"
#include "bench/postgres/pg_ways.h"
#include "store/postgres/net/conninfo.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTEA_TYPE 17
#define INT8_TYPE  20

static void die(PGconn *conn, const char *what)
{
    struct error err;

    error_set(&err, TH_E_UNAVAILABLE, "%s", PQerrorMessage(conn));
    bench_die(what, &err);
}

void pg_bare_exec(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die(conn, sql);
    PQclear(result);
}

static PGconn *connect_to(const char *url)
{
    char *conninfo = pg_conninfo_make(url);
    PGconn *conn = PQconnectdb(conninfo);

    free(conninfo);
    if (PQstatus(conn) != CONNECTION_OK)
        die(conn, "connect");
    return conn;
}

PGconn *pg_bare_enter(const char *url)
{
    PGconn *conn = connect_to(url);

    pg_bare_exec(conn, "SET search_path = " PG_BENCH_SCHEMA "; SET client_min_messages = warning;"
                       "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
                       "SET enable_hashjoin = off; SET enable_mergejoin = off;"
                       "SET enable_bitmapscan = off; SET jit = off");
    return conn;
}

PGconn *pg_bare_open(const char *url)
{
    PGconn *conn = pg_bare_enter(url);

    pg_bare_exec(conn, "DROP SCHEMA IF EXISTS " PG_BENCH_SCHEMA " CASCADE;"
                       "CREATE SCHEMA " PG_BENCH_SCHEMA);
    return conn;
}

const char *pg_fresh_url(const char *url)
{
    static char fresh[1024];
    PGconn *conn = connect_to(url);

    pg_bare_exec(conn, "SET client_min_messages = warning;"
                       "DROP SCHEMA IF EXISTS " PG_BENCH_SCHEMA " CASCADE");
    pg_bare_exec(conn, "CHECKPOINT"); /* so that nobody pays for what others wrote */
    PQfinish(conn);
    snprintf(fresh, sizeof fresh, "%s?schema=" PG_BENCH_SCHEMA, url);
    return fresh;
}

void pg_bare_prepare(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQprepare(conn, name, sql, 0, NULL);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die(conn, sql);
    PQclear(result);
}

PGresult *pg_bare_run(PGconn *conn, const char *name, int count, const char *const *values,
                      const int *lengths)
{
    static const int binary[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    PGresult *result = PQexecPrepared(conn, name, count, values, lengths, binary, 1);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die(conn, name);
    return result;
}

int64_t pg_bare_int(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    int64_t number;

    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1 ||
        !text_to_int(PQgetvalue(result, 0, 0), INT32_MIN, INT64_MAX, &number))
        die(conn, sql);
    PQclear(result);
    return number;
}

static void add_int4(struct buffer *array, uint32_t value)
{
    uint32_t bytes = htobe32(value);

    buffer_add(array, &bytes, sizeof bytes);
}

static void begin_array(struct buffer *array, uint32_t type, size_t count)
{
    buffer_clear(array);
    add_int4(array, 1);
    add_int4(array, 0);
    add_int4(array, type);
    add_int4(array, (uint32_t)count);
    add_int4(array, 1);
}

void pg_bare_array(struct buffer *array, const int64_t *items, size_t count)
{
    begin_array(array, INT8_TYPE, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = htobe64((uint64_t)items[i]);
        add_int4(array, sizeof bytes);
        buffer_add(array, &bytes, sizeof bytes);
    }
}

void pg_bare_tokens(struct buffer *array, const unsigned char batch[16], const uint32_t *numbers,
                    size_t count)
{
    begin_array(array, BYTEA_TYPE, count);
    for (size_t i = 0; i < count; i++) {
        add_int4(array, 20);
        buffer_add(array, batch, 16);
        buffer_add(array, &numbers[i], sizeof numbers[i]);
    }
}
