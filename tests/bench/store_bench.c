/*
 * store_bench.c - a store next to bare calls in the same run.
 *
 *     store-bench PLACE [BACKLOG]       all of it; the long queue has BACKLOG jobs (1,000,000)
 *     store-bench PLACE exchange        only the table's last row, to compare whole pools with
 *     store-bench PLACE minimal JOBS    jobs a second of that row's minimal loop, once
 *     store-bench PLACE pools           PostgreSQL: only what many pools cost
 *
 * PLACE is a folder on the disk that matters, for SQLite, or postgres://..., where all is done in a
 * schema of its own. With `minimal`, SQLite has synchronous=NORMAL, as its peers are measured.
 */
#include "base/base.h"
#include "base/text.h"
#include "bench/bare.h"
#include "bench/bench.h"
#include "bench/postgres/pg_ways.h"
#include "bench/ways.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const struct bench_row rows[] = {
    {"enqueue, 1 at a time",            {1000, 1},      store_enqueue_way, raw_enqueue, minimal_enqueue},
    {"enqueue, 100 at a time",          {20000, 100},   store_enqueue_way, raw_enqueue, minimal_enqueue},
    {"enqueue, 1000 at a time",         {100000, 1000}, store_enqueue_way, raw_enqueue, minimal_enqueue},
    {"exchange, 1 at a time",           {1000, 1},      store_exchange_keep, raw_exchange_keep, minimal_exchange_keep},
    {"exchange, 10 at a time",          {5000, 10},     store_exchange_keep, raw_exchange_keep, minimal_exchange_keep},
    {"exchange, 100 at a time",         {20000, 100},   store_exchange_keep, raw_exchange_keep, minimal_exchange_keep},
    {"exchange, 1000 at a time",        {100000, 1000}, store_exchange_keep, raw_exchange_keep, minimal_exchange_keep},
    {"exchange, 1000, retention.done 0", {100000, 1000}, store_exchange_forget, raw_exchange_forget, minimal_exchange_forget},
};
/* clang-format on */

static int measure_exchange(const char *folder)
{
    bench_run(folder, &rows[COUNT_OF(rows) - 1]);
    bench_fresh_path(folder);
    return EXIT_SUCCESS;
}

static int measure_minimal(const char *place, bool is_postgres, size_t jobs)
{
    const struct bench_size size = {jobs, 1000};

    bare_relax();
    usec_t elapsed =
        is_postgres ? pg_minimal_exchange(place, size) : minimal_exchange_forget(place, size);
    bench_fresh_path(place);
    printf("%.0f\n", (double)jobs * (double)USEC_PER_SEC / (double)elapsed);
    return EXIT_SUCCESS;
}

static int measure_pools(const char *url)
{
    pg_pools_print(url);
    (void)pg_fresh_url(url);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int64_t backlog = 1000000, jobs;
    bool is_postgres = argc > 1 && text_starts_with(argv[1], "postgres://");

    if (is_postgres && argc == 3 && text_equal(argv[2], "pools"))
        return measure_pools(argv[1]);
    if (argc == 3 && text_equal(argv[2], "exchange"))
        return measure_exchange(argv[1]);
    if (argc == 4 && text_equal(argv[2], "minimal") && text_to_int(argv[3], 1000, 100000000, &jobs))
        return measure_minimal(argv[1], is_postgres, (size_t)jobs);
    if (argc < 2 || argc > 3 || (argc > 2 && !text_to_int(argv[2], 1000, 100000000, &backlog))) {
        fprintf(stderr, "usage: store-bench FOLDER|postgres://... [BACKLOG | exchange | minimal "
                        "JOBS | pools]\n");
        return 2;
    }
    if (is_postgres) {
        pg_print(argv[1], (size_t)backlog);
        return EXIT_SUCCESS;
    }
    bench_print_head();
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        bench_run(argv[1], &rows[i]);
    reserve_print(argv[1], (size_t)backlog);
    writers_print(argv[1]);
    wake_print(argv[1]);
    bench_fresh_path(argv[1]);
    return EXIT_SUCCESS;
}
