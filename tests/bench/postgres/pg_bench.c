/*
 * pg_bench.c - the PostgreSQL store next to bare statements in the same run.
 */
#include "bench/bench.h"
#include "bench/postgres/pg_bare.h"
#include "bench/postgres/pg_ways.h"
#include "bench/ways.h"

/* clang-format off */
static const struct bench_row rows[] = {
    {"enqueue, 1 at a time",             {1000, 1},      store_enqueue_way,     pg_raw_enqueue,         pg_minimal_enqueue},
    {"enqueue, 1000 at a time",          {50000, 1000},  store_enqueue_way,     pg_raw_enqueue,         pg_minimal_enqueue},
    {"exchange, 1 at a time",            {1000, 1},      store_exchange_keep,   pg_raw_exchange_keep,   pg_minimal_exchange},
    {"exchange, 100 at a time",          {20000, 100},   store_exchange_keep,   pg_raw_exchange_keep,   pg_minimal_exchange},
    {"exchange, 1000 at a time",         {100000, 1000}, store_exchange_keep,   pg_raw_exchange_keep,   pg_minimal_exchange},
    {"exchange, 1000, retention.done 0", {100000, 1000}, store_exchange_forget, pg_raw_exchange_forget, pg_minimal_exchange},
};
/* clang-format on */

void pg_print(const char *url, size_t backlog)
{
    bench_print_head();
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        bench_run(url, &rows[i]);
    pg_backlog_print(url, backlog);
    pg_pools_print(url);
    (void)pg_fresh_url(url);
}
