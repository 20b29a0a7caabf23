/*
 * writers_bench.c - how long does a writer wait for its turn?
 *
 * Two processes write at full load, one in batches of a thousand and one in batches of ten. Each
 * call is timed; the small ones show what somebody else's batches cost.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/store_ways.h"
#include "bench/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS   3
#define CALLS_MAX 200000

static int compare(const void *a, const void *b)
{
    usec_t left = *(const usec_t *)a, right = *(const usec_t *)b;

    return (left > right) - (left < right);
}

static void write_for_a_while(const char *path, size_t batch)
{
    CLEANUP(store_close) struct store *store = bench_store(path);
    usec_t *calls = calloc(CALLS_MAX, sizeof *calls);
    usec_t end = clock_boot() + SECONDS * USEC_PER_SEC;
    size_t count = 0;

    while (clock_boot() < end && count < CALLS_MAX) {
        usec_t start = clock_boot();
        bench_fill(store, (struct bench_size){batch, batch});
        calls[count++] = clock_boot() - start;
    }
    qsort(calls, count, sizeof *calls, compare);
    printf("two writers, batches of %-10zu %10.0f jobs/s, call p50 %.1f ms, p99 %.1f ms, longest "
           "%.1f ms\n",
           batch, (double)(count * batch) / SECONDS, (double)calls[count / 2] / 1000.0,
           (double)calls[count * 99 / 100] / 1000.0, (double)calls[count - 1] / 1000.0);
    fflush(stdout);
    free(calls);
}

void writers_print(const char *folder)
{
    static const size_t batches[] = {1000, 10};
    const char *path = bench_fresh_path(folder);
    struct store *store = bench_store(path);

    store_close(&store);
    fflush(stdout);
    for (size_t i = 0; i < COUNT_OF(batches); i++) {
        if (fork() == 0) {
            write_for_a_while(path, batches[i]);
            _exit(EXIT_SUCCESS);
        }
    }
    while (wait(NULL) > 0)
        continue;
}
