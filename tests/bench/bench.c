/*
 * bench.c - rounds, medians and the table.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_die(const char *what, const struct error *err)
{
    fprintf(stderr, "bench: %s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

void bench_expect(const char *what, size_t found, size_t expected)
{
    struct error err;

    if (found == expected)
        return;
    error_set(&err, TH_E_INTERNAL, "%zu, not %zu", found, expected);
    bench_die(what, &err);
}

struct bytes bench_payload(void)
{
    static unsigned char payload[BENCH_PAYLOAD];

    memset(payload, 'x', sizeof payload);
    memcpy(payload, "{\"p\":\"", 6);
    memcpy(payload + sizeof payload - 2, "\"}", 2);
    return (struct bytes){payload, sizeof payload};
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static double measure(bench_way way, const char *folder, struct bench_size size)
{
    usec_t elapsed = !way ? 0 : way(folder, size);

    return elapsed == 0 ? 0 : (double)size.jobs * (double)USEC_PER_SEC / (double)elapsed;
}

void bench_print_head(void)
{
    printf("%-34s %10s | %10s %6s | %10s %6s\n", "", "TaskHarbor", "raw", "ratio", "minimal",
           "ratio");
    printf("%-34s %10s | %10s %6s | %10s %6s\n", "work", "jobs/s", "jobs/s", "", "jobs/s", "");
}

static void print_rival(double ours, double rival)
{
    if (rival > 0)
        printf(" | %10.0f %6.2f", rival, ours / rival);
    else
        printf(" | %10s %6s", "-", "-");
}

void bench_run(const char *folder, const struct bench_row *row)
{
    const bench_way ways[] = {row->minimal, row->raw, row->ours};
    double rates[COUNT_OF(ways)][BENCH_ROUNDS];

    /* Each way is first, second and last in turn: the disk is still busy with what came before. */
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        for (size_t i = 0; i < COUNT_OF(ways); i++) {
            size_t way = (round + i) % COUNT_OF(ways);
            rates[way][round] = measure(ways[way], folder, row->size);
        }
    }
    double ours = median(rates[2], BENCH_ROUNDS);
    printf("%-34s %10.0f", row->name, ours);
    print_rival(ours, median(rates[1], BENCH_ROUNDS));
    print_rival(ours, median(rates[0], BENCH_ROUNDS));
    printf("\n");
    fflush(stdout);
}
