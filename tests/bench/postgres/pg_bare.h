/*
 * pg_bare.h - libpq called directly, for the bare loops that the store is compared with.
 */
#ifndef BENCH_PG_BARE_H
#define BENCH_PG_BARE_H

#include "base/base.h"
#include "base/buffer.h"

#include <libpq-fe.h>

#define PG_BENCH_SCHEMA "taskharbor_bench"

/* A connection that works in the benchmark's schema, which is empty. */
PGconn *pg_bare_open(const char *url);

/* The same, in the schema as the store has made and filled it. */
PGconn *pg_bare_enter(const char *url);

void pg_bare_exec(PGconn *conn, const char *sql);
void pg_bare_prepare(PGconn *conn, const char *name, const char *sql);

/* The one number that is the answer. */
int64_t pg_bare_int(PGconn *conn, const char *sql);

/* Up to nine parameters, and rows, in binary form. Ends the program when it fails; the caller
 * clears it. */
PGresult *pg_bare_run(PGconn *conn, const char *name, int count, const char *const *values,
                      const int *lengths);

/* An array of bigint. */
void pg_bare_array(struct buffer *array, const int64_t *items, size_t count);

/* An array of tokens: what they have in common, and each one's number as PostgreSQL writes it. */
void pg_bare_tokens(struct buffer *array, const unsigned char batch[16], const uint32_t *numbers,
                    size_t count);

#endif
