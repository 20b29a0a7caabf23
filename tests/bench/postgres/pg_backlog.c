/*
 * pg_backlog.c - does a long queue make exchanges slower, and does somebody who holds an old
 * snapshot?
 *
 * The dispatcher's loop on a queue that is as long at the end as at the start, because as many jobs
 * are enqueued as are done.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/postgres/pg_bare.h"
#include "bench/postgres/pg_ways.h"
#include "bench/store_ways.h"

#include <stdio.h>

#define FEW     10000
#define BATCH   1000
#define ROUNDS  300
#define RESULTS 50 /* one of so many, where there are any: 2 % */

/* Producers have a handle of their own, as in real life. */
static double rate_of(struct store *store, struct store *producer, size_t results)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    usec_t elapsed = 0;

    for (size_t i = 0; i < ROUNDS; i++) {
        bench_fill(producer, (struct bench_size){BATCH, BATCH});
        usec_t start = clock_boot();
        bench_exchange(store, "bench", BATCH, results, &jobs);
        elapsed += clock_boot() - start;
    }
    return (double)(BATCH * ROUNDS) * (double)USEC_PER_SEC / (double)elapsed;
}

/* One of so many jobs has a result. */
static double held_print(const char *url, struct store *store, struct store *producer,
                         size_t results)
{
    double free_rate = rate_of(store, producer, results);
    PGconn *holder = pg_bare_enter(url);

    pg_bare_exec(holder, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM meta");
    double held = rate_of(store, producer, results);
    double longer = rate_of(store, producer, results);
    pg_bare_exec(holder, "COMMIT");
    pg_bare_exec(holder, "VACUUM"); /* so that nobody pays for what it has kept */
    PQfinish(holder);
    printf("exchange 1000, %d%-18s %10.0f jobs/s\n", FEW, results > 0 ? ", 2 % results" : "",
           free_rate);
    printf("  with a held snapshot             %10.0f jobs/s: %.2f of that\n", held,
           held / free_rate);
    printf("  and %6d jobs later             %10.0f jobs/s: %.2f of that\n", BATCH * ROUNDS, longer,
           longer / free_rate);
    fflush(stdout);
    return free_rate;
}

void pg_backlog_print(const char *url, size_t backlog)
{
    const char *fresh = pg_fresh_url(url);
    CLEANUP(store_close) struct store *store = bench_store(fresh);
    CLEANUP(store_close) struct store *producer = bench_store(fresh);

    bench_fill(producer, (struct bench_size){FEW, BATCH});
    double few = held_print(url, store, producer, 0);
    (void)held_print(url, store, producer, RESULTS);
    bench_fill(producer, (struct bench_size){backlog, BATCH});
    double many = rate_of(store, producer, 0);
    printf("exchange 1000, %-19zu %10.0f jobs/s: %.2f of that\n", backlog, many, many / few);
}
