/*
 * redis_bench.c - the Redis store next to bare scripts in the same run.
 *
 *     TH_REDIS=URL redis-bench [BACKLOG]
 *     TH_REDIS=URL redis-bench minimal JOBS    jobs a second of the last row's minimal loop, once
 *
 * The server loses everything that is in it.
 */
#include "base/text.h"
#include "bench/bench.h"
#include "bench/redis/redis_ways.h"
#include "bench/ways.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const struct bench_row rows[] = {
    {"enqueue, 1 at a time",             {1000, 1},      store_enqueue_way, NULL, minimal_redis_enqueue},
    {"enqueue, 100 at a time",           {20000, 100},  store_enqueue_way, NULL, minimal_redis_enqueue},
    {"enqueue, 1000 at a time",          {100000, 1000}, store_enqueue_way, NULL, minimal_redis_enqueue},
    {"exchange, 1 at a time",            {1000, 1},      store_exchange_keep, raw_redis_exchange_keep, minimal_redis_exchange_keep},
    {"exchange, 10 at a time",           {5000, 10},    store_exchange_keep, raw_redis_exchange_keep, minimal_redis_exchange_keep},
    {"exchange, 100 at a time",          {20000, 100},  store_exchange_keep, raw_redis_exchange_keep, minimal_redis_exchange_keep},
    {"exchange, 1000 at a time",         {100000, 1000}, store_exchange_keep, raw_redis_exchange_keep, minimal_redis_exchange_keep},
    {"exchange, 1000, retention.done 0", {100000, 1000}, store_exchange_forget, raw_redis_exchange_forget, minimal_redis_exchange_forget},
};
/* clang-format on */

static int measure_minimal(const char *url, size_t jobs)
{
    usec_t elapsed = minimal_redis_exchange_forget(url, (struct bench_size){jobs, 1000});

    bench_fresh_path(url);
    printf("%.0f\n", (double)jobs * (double)USEC_PER_SEC / (double)elapsed);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *url = getenv("TH_REDIS");
    int64_t backlog = 1000000, jobs;

    if (url && argc == 3 && text_equal(argv[1], "minimal") &&
        text_to_int(argv[2], 1000, 100000000, &jobs))
        return measure_minimal(url, (size_t)jobs);
    if (!url || argc > 2 || (argc == 2 && !text_to_int(argv[1], 1000, 100000000, &backlog))) {
        fprintf(stderr, "usage: TH_REDIS=URL redis-bench [BACKLOG | minimal JOBS]\n");
        return 2;
    }
    bench_print_head();
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        bench_run(url, &rows[i]);
    reserve_print(url, (size_t)backlog);
    wake_print(url);
    bench_fresh_path(url);
    return EXIT_SUCCESS;
}
