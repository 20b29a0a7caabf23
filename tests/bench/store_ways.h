/*
 * store_ways.h - a store on a fresh file, for the benchmarks.
 */
#ifndef BENCH_STORE_WAYS_H
#define BENCH_STORE_WAYS_H

#include "bench/bench.h"
#include "store/store.h"

#define BENCH_LEASE (30 * USEC_PER_SEC)

struct store *bench_store(const char *path);

/* Jobs of BENCH_PAYLOAD bytes in the default queue. */
void bench_fill(struct store *store, struct bench_size size);

/* Up to `max` of them, of the pool "bench". */
void bench_reserve(struct store *store, size_t max, struct job_list *jobs_out);

/* One turn of a dispatcher: what it has is done and forgotten, and it gets up to `max` others. One
 * of so many has a result; 0: none has. */
void bench_exchange(struct store *store, const char *pool, size_t max, size_t results,
                    struct job_list *jobs);

struct reservation bench_wanted(const struct queue_share *share);

#endif
