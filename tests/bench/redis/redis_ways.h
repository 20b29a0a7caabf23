/*
 * redis_ways.h - the ways to enqueue and to exchange in Redis, by file.
 */
#ifndef BENCH_REDIS_WAYS_H
#define BENCH_REDIS_WAYS_H

#include "bench/bench.h"

/* minimal_redis.c */
usec_t minimal_redis_enqueue(const char *url, struct bench_size size);
usec_t minimal_redis_exchange_keep(const char *url, struct bench_size size);
usec_t minimal_redis_exchange_forget(const char *url, struct bench_size size);

/* raw_redis.c */
usec_t raw_redis_exchange_keep(const char *url, struct bench_size size);
usec_t raw_redis_exchange_forget(const char *url, struct bench_size size);

#endif
