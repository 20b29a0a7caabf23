/*
 * scale_bench.c - each operation of a store with a few and with many jobs of every kind around.
 *
 *     scale-bench SMALL_URL LARGE_URL [JOBS]    JOBS in the large one, 3,000,000 by default
 *     scale-bench town URL JOBS                 only fills a store, with so many of every kind
 *     scale-bench done URL JOBS                 the same, with done ones alone
 *
 * Both stores are empty at first; TH_BENCH_REST is a shell command that runs when they are full,
 * for what a server does by itself in the minutes after so much work. An operation costs what it
 * touches: its two times should be the same, and at most twice as long in the large one, where
 * trees are deeper and caches too small.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "bench/scale/operations.h"

#include <stdio.h>
#include <stdlib.h>

#define SMALL     3000
#define ROUNDS    15
#define ATTEMPTS  3
#define RATIO_MAX 2.0
#define SLACK     100.0 /* microseconds: what the clock and the scheduler make of a short call */

static int compare(const void *a, const void *b)
{
    const usec_t left = *(const usec_t *)a, right = *(const usec_t *)b;

    return (left > right) - (left < right);
}

static double median(usec_t times[ROUNDS])
{
    qsort(times, ROUNDS, sizeof *times, compare);
    return (double)times[ROUNDS / 2];
}

struct finding {
    double few, many;
};

/* In turn, so that what else the machine does hits both. */
static struct finding measure(const struct operation *operation, struct town towns[2])
{
    usec_t times[2][ROUNDS];

    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 2; i++) {
            const size_t which = (round + i) % 2;

            times[which][round] = operation->run(&towns[which], operation->argument);
        }
    }
    return (struct finding){median(times[0]), median(times[1])};
}

static bool is_fine(const struct finding *finding)
{
    return finding->many <= RATIO_MAX * finding->few + SLACK;
}

/* A disturbance goes by, and a cost that grows does not: what looks bad is measured again. */
static bool report(const struct operation *operation, struct town towns[2])
{
    struct finding found = measure(operation, towns);

    for (int i = 1; i < ATTEMPTS && !is_fine(&found); i++)
        found = measure(operation, towns);
    printf("%-34s %10.0f %10.0f %8.2f%s\n", operation->name, found.few, found.many,
           found.many / (found.few > 0 ? found.few : 1),
           is_fine(&found) ? "" : "  <- more than twice");
    fflush(stdout);
    return is_fine(&found);
}

static size_t measure_all(const struct operation_list *list, struct town towns[2])
{
    size_t failed = 0;

    for (size_t i = 0; i < list->count; i++)
        failed += report(&list->items[i], towns) ? 0 : 1;
    return failed;
}

static void build(struct town *town, const char *url, size_t around)
{
    const usec_t start = clock_boot();

    town_build(town, url, around);
    fprintf(stderr, "%zu jobs around: made in %.1f s\n", around,
            (double)(clock_boot() - start) / (double)USEC_PER_SEC);
}

/* Whoever made the towns has left them. */
static void rest(void)
{
    const char *command = getenv("TH_BENCH_REST");

    if (command && system(command) != 0) {
        fprintf(stderr, "bench: TH_BENCH_REST failed\n");
        exit(EXIT_FAILURE);
    }
}

static int build_only(const char *kind, const char *url, const char *count)
{
    CLEANUP(town_close) struct town town = {.url = url};
    int64_t jobs;

    if (!text_to_int(count, 1, 100000000, &jobs))
        return 2;
    if (text_equal(kind, "done"))
        town_build_done(url, (size_t)jobs);
    else
        town_build(&town, url, (size_t)jobs);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const struct operation_list *const lists[] = {&path_operations, &upkeep_operations,
                                                  &aside_operations, &people_operations,
                                                  &list_operations};
    static struct town towns[2];
    int64_t jobs = 3000000;
    size_t failed = 0;

    if (argc == 4 && (text_equal(argv[1], "done") || text_equal(argv[1], "town")))
        return build_only(argv[1], argv[2], argv[3]);
    if (argc < 3 || argc > 4 || (argc == 4 && !text_to_int(argv[3], SMALL, 100000000, &jobs))) {
        fprintf(stderr, "usage: scale-bench SMALL_URL LARGE_URL [JOBS]\n");
        return 2;
    }
    build(&towns[0], argv[1], SMALL);
    build(&towns[1], argv[2], (size_t)jobs);
    rest();
    printf("%-34s %10s %10s %8s\n", "operation, microseconds", "few", "many", "ratio");
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        failed += measure_all(lists[i], towns);
    printf("%zu cost more than twice as much with %" PRId64 " jobs around as with %d\n", failed,
           jobs, SMALL);
    town_close(&towns[0]);
    town_close(&towns[1]);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
