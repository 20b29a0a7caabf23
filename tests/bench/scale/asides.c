/*
 * asides.c - jobs that nobody can run: set aside, looked at, and brought back.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/scale/operations.h"

#include <stdio.h>
#include <stdlib.h>

static usec_t run_look(struct town *town, int unused)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_aside(town->store, NULL, 0, &types, &err), "aside", &err);
    return clock_boot() - start;
}

enum step { STEP_BRING_BACK, STEP_SET_ASIDE };

/* Some come back, are taken and set aside again; one of the steps is measured. */
static usec_t run_step(struct town *town, int measured)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct aside_type type = {
        .queue = TOWN_SHELF, .type = TOWN_TYPE, .why = ASIDE_NO_HANDLER};
    usec_t times[4];
    struct error err;
    size_t moved;

    times[0] = clock_boot();
    town_must(store_bring_back(town->store, &type, 0, TOWN_BATCH, &moved, &err), "bring_back",
              &err);
    times[1] = clock_boot();
    town_reserve(town, TOWN_SHELF, TOWN_POOL, TOWN_BATCH, USEC_PER_HOUR, store_now(town->store),
                 &taken);
    if (moved != TOWN_BATCH || taken.count != TOWN_BATCH) {
        fprintf(stderr, "bench: %zu jobs came back and %zu were taken\n", moved, taken.count);
        exit(EXIT_FAILURE);
    }
    times[2] = clock_boot();
    town_settle(town, &taken, SETTLE_ASIDE, 0, store_now(town->store));
    times[3] = clock_boot();
    return measured == STEP_BRING_BACK ? times[1] - times[0] : times[3] - times[2];
}

static const struct operation operations[] = {
    {"aside, which types", run_look, 0},
    {"bring back 100", run_step, STEP_BRING_BACK},
    {"settle 100: aside", run_step, STEP_SET_ASIDE},
};

const struct operation_list aside_operations = {operations, COUNT_OF(operations)};
