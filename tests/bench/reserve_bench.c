/*
 * reserve_bench.c - does a long queue make reserving slower?
 *
 * The same jobs are reserved and released again, 100 at a time, so that the number of waiting ones
 * stays what it is.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/store_ways.h"
#include "bench/ways.h"

#include <stdlib.h>

#define BATCH  100
#define ROUNDS 300

static void release(struct store *store, const struct job_list *jobs)
{
    struct settlement finished[BATCH];
    enum th_error_code verdicts[BATCH];
    struct settlement_list list = {finished, jobs->count};
    struct error err;

    for (size_t i = 0; i < jobs->count; i++)
        finished[i] = (struct settlement){
            .job = jobs->items[i].id,
            .queue = jobs->items[i].queue,
            .token = jobs->items[i].token,
            .ref = jobs->items[i].ref,
            .kind = SETTLE_RELEASE,
        };
    if (!store_settle(store, &list, store_now(store), verdicts, &err))
        bench_die("release", &err);
}

double reserve_rate(const char *folder, size_t waiting)
{
    CLEANUP(store_close) struct store *store = bench_store(bench_fresh_path(folder));
    usec_t reserving = 0;

    bench_fill(store, (struct bench_size){waiting, 1000});
    for (size_t i = 0; i < ROUNDS; i++) {
        CLEANUP(job_list_done) struct job_list jobs = {0};
        usec_t start = clock_boot();
        bench_reserve(store, BATCH, &jobs);
        reserving += clock_boot() - start;
        release(store, &jobs);
    }
    return (double)(BATCH * ROUNDS) * (double)USEC_PER_SEC / (double)reserving;
}
