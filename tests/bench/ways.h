/*
 * ways.h - the ways to enqueue and to exchange, by file.
 */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include "bench/bench.h"

/* minimal.c */
usec_t minimal_enqueue(const char *folder, struct bench_size size);
usec_t minimal_exchange_keep(const char *folder, struct bench_size size);
usec_t minimal_exchange_forget(const char *folder, struct bench_size size);

/* raw.c */
usec_t raw_enqueue(const char *folder, struct bench_size size);
usec_t raw_exchange_keep(const char *folder, struct bench_size size);
usec_t raw_exchange_forget(const char *folder, struct bench_size size);

/* store_ways.c; exchange with an empty batch at the start and the end */
usec_t store_enqueue_way(const char *folder, struct bench_size size);
usec_t store_exchange_keep(const char *folder, struct bench_size size);
usec_t store_exchange_forget(const char *folder, struct bench_size size);

/* reserve_bench.c: reserve 100 at a time with a thousand and with so many waiting. */
void reserve_print(const char *folder, size_t backlog);

/* writers_bench.c: two writers at full load; the longest call of each kind, in microseconds. */
void writers_print(const char *folder);

/* wake_bench.c: from one process's enqueue to another's wake-up. */
void wake_print(const char *folder);

#endif
