/*
 * wake_bench.c - how soon is a waiter awake after somebody else's commit?
 *
 * A child sleeps in store_wait() and reports when it woke up; the parent enqueues one job and notes
 * when the call began and when it was back. The bell is rung between the two, after the commit.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/store_ways.h"
#include "bench/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAKES 500

static void report_wakes(const char *path, int report)
{
    CLEANUP(store_close) struct store *store = bench_store(path);
    struct error err;
    bool rang;

    /* The first wait answers at once: it says that the waiter is ready. */
    for (int i = 0; i <= WAKES; i++) {
        if (!store_wait(store, 10 * USEC_PER_SEC, &rang, &err))
            bench_die("wait", &err);
        usec_t woke = clock_boot();
        if (write(report, &woke, sizeof woke) != sizeof woke)
            return;
    }
}

static int compare(const void *a, const void *b)
{
    usec_t left = *(const usec_t *)a, right = *(const usec_t *)b;

    return (left > right) - (left < right);
}

static void print_line(const char *what, usec_t *times)
{
    qsort(times, WAKES, sizeof *times, compare);
    printf("%-34s %10" PRId64 " us, p99 %" PRId64 " us\n", what, times[WAKES / 2],
           times[WAKES * 99 / 100]);
}

static void measure(const char *path, int report)
{
    CLEANUP(store_close) struct store *store = bench_store(path);
    usec_t from_call[WAKES], from_return[WAKES], woke;

    if (read(report, &woke, sizeof woke) != sizeof woke)
        return;
    for (int i = 0; i < WAKES; i++) {
        usec_t called = clock_boot();
        bench_fill(store, (struct bench_size){1, 1});
        usec_t back = clock_boot();
        if (read(report, &woke, sizeof woke) != sizeof woke)
            return;
        from_call[i] = woke - called;
        from_return[i] = woke - back;
    }
    print_line("enqueue call to waiter awake, p50", from_call);
    print_line("enqueue back to waiter awake, p50", from_return);
}

void wake_print(const char *folder)
{
    const char *path = bench_fresh_path(folder);
    struct store *store = bench_store(path);
    int report[2];

    store_close(&store);
    fflush(stdout);
    if (pipe(report) != 0)
        return;
    if (fork() == 0) {
        close(report[0]);
        report_wakes(path, report[1]);
        _exit(EXIT_SUCCESS);
    }
    close(report[1]);
    measure(path, report[0]);
    close(report[0]);
    while (wait(NULL) > 0)
        continue;
}
