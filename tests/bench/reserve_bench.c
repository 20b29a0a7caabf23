/*
 * reserve_bench.c - does a long queue make reserving slower?
 *
 * The same jobs are reserved and released again, 100 at a time, so that the number of waiting ones
 * stays what it is; on a short and a long queue in turn.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/store_ways.h"
#include "bench/ways.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FEW    1000
#define BATCH  100
#define ROUNDS 500

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

/* One turn on a queue; answers how long the reserve itself took. */
static usec_t take_turn(struct store *store)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    usec_t start = clock_boot();

    bench_reserve(store, BATCH, &jobs);
    usec_t elapsed = clock_boot() - start;
    release(store, &jobs);
    return elapsed;
}

static struct store *store_with(const char *folder, size_t waiting)
{
    struct store *store = bench_store(bench_fresh_path(folder));

    bench_fill(store, (struct bench_size){waiting, 1000});
    return store;
}

static double rate(usec_t elapsed)
{
    return (double)(BATCH * ROUNDS) * (double)USEC_PER_SEC / (double)elapsed;
}

void reserve_print(const char *folder, size_t backlog)
{
    char other[4200];
    usec_t short_queue = 0, long_queue = 0;

    snprintf(other, sizeof other, "%s/backlog", folder);
    if (mkdir(other, 0700) != 0 && errno != EEXIST)
        return;
    CLEANUP(store_close) struct store *many = store_with(other, backlog);
    CLEANUP(store_close) struct store *few = store_with(folder, FEW);
    for (size_t i = 0; i < ROUNDS; i++) {
        short_queue += take_turn(few);
        long_queue += take_turn(many);
    }
    printf("reserve 100, %-21d %10.0f jobs/s\n", FEW, rate(short_queue));
    printf("reserve 100, %-21zu %10.0f jobs/s: %.2f of that\n", backlog, rate(long_queue),
           rate(long_queue) / rate(short_queue));
    bench_fresh_path(other);
}
