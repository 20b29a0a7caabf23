/*
 * pg_ways.h - the ways to exchange with a PostgreSQL server, by file. `folder` is its URL.
 */
#ifndef BENCH_PG_WAYS_H
#define BENCH_PG_WAYS_H

#include "bench/bench.h"

/* pg_bare.c: the URL of the benchmark's schema, after dropping what an earlier round left there. */
const char *pg_fresh_url(const char *url);

/* pg_minimal.c */
usec_t pg_minimal_enqueue(const char *url, struct bench_size size);
usec_t pg_minimal_exchange(const char *url, struct bench_size size);

/* pg_raw.c */
usec_t pg_raw_enqueue(const char *url, struct bench_size size);
usec_t pg_raw_exchange_keep(const char *url, struct bench_size size);
usec_t pg_raw_exchange_forget(const char *url, struct bench_size size);

/* pg_backlog.c: with so many waiting, and while somebody holds an old snapshot. */
void pg_backlog_print(const char *url, size_t backlog);

/* pg_pools.c: with a hundred pools on one database. */
void pg_pools_print(const char *url);

/* All of it. */
void pg_print(const char *url, size_t backlog);

#endif
