/*
 * people.c - looking at jobs, and repairing.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/scale/operations.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNTED 300

static usec_t run_get(struct town *town, int kind)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    const usec_t start = clock_boot();
    struct error err;

    town_must(store_get(town->store, &town->known[kind], &found, &err), "get", &err);
    return clock_boot() - start;
}

static usec_t run_failures(struct town *town, int limit)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    const usec_t start = clock_boot();
    struct error err;

    town_must(store_failures(town->store, (size_t)limit, &found, &err), "failures", &err);
    return clock_boot() - start;
}

static usec_t run_stats(struct town *town, int unused)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_stats(town->store, &stats, &err), "stats", &err);
    return clock_boot() - start;
}

static void expect_ok(const enum th_error_code verdicts[TOWN_BATCH], const char *what)
{
    for (size_t i = 0; i < TOWN_BATCH; i++) {
        if (verdicts[i] == TH_OK)
            continue;
        fprintf(stderr, "bench: %s: refused with %d\n", what, (int)verdicts[i]);
        exit(EXIT_FAILURE);
    }
}

enum repair { REPAIR_CANCEL, REPAIR_REQUEUE, REPAIR_REMOVE };

/* All three in a row, on jobs of its own, one of them measured. */
static usec_t run_repair(struct town *town, int measured)
{
    const usec_t now = store_now(town->store);
    enum th_error_code verdicts[TOWN_BATCH];
    struct uuid ids[TOWN_BATCH];
    usec_t times[5];
    struct error err;

    town_add(town, now + USEC_PER_DAY, ids);
    times[0] = clock_boot();
    town_must(store_cancel(town->store, ids, TOWN_BATCH, now, verdicts, &err), "cancel", &err);
    times[1] = clock_boot();
    expect_ok(verdicts, "cancel");
    town_must(store_requeue(town->store, ids, TOWN_BATCH, 0, now, verdicts, &err), "requeue", &err);
    times[2] = clock_boot();
    expect_ok(verdicts, "requeue");
    town_must(store_cancel(town->store, ids, TOWN_BATCH, now, verdicts, &err), "cancel", &err);
    times[3] = clock_boot();
    town_must(store_remove(town->store, ids, TOWN_BATCH, verdicts, &err), "remove", &err);
    times[4] = clock_boot();
    expect_ok(verdicts, "remove");
    if (measured == REPAIR_REMOVE)
        return times[4] - times[3];
    return measured == REPAIR_CANCEL ? times[1] - times[0] : times[2] - times[1];
}

static usec_t run_run_now(struct town *town, int unused)
{
    const usec_t now = store_now(town->store);
    enum th_error_code verdicts[TOWN_BATCH];
    struct uuid ids[TOWN_BATCH];
    struct error err;

    (void)unused;
    town_add(town, now + USEC_PER_DAY, ids);
    const usec_t start = clock_boot();
    town_must(store_run_now(town->store, ids, TOWN_BATCH, now, verdicts, &err), "run_now", &err);
    const usec_t took = clock_boot() - start;
    expect_ok(verdicts, "run_now");
    town_must(store_cancel(town->store, ids, TOWN_BATCH, now, verdicts, &err), "cancel", &err);
    town_must(store_remove(town->store, ids, TOWN_BATCH, verdicts, &err), "remove", &err);
    return took;
}

static usec_t run_watch(struct town *town, int unused)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct watched_job jobs[TOWN_BATCH];
    struct error err;

    (void)unused;
    town_reserve(town, TOWN_QUEUE, TOWN_POOL, TOWN_BATCH, USEC_PER_HOUR, store_now(town->store),
                 &taken);
    for (size_t i = 0; i < taken.count; i++)
        jobs[i] = (struct watched_job){taken.items[i].id, TOWN_QUEUE};
    const struct watch watch = {.jobs = jobs, .count = taken.count, .pools = true};
    const usec_t now = store_now(town->store);
    const usec_t start = clock_boot();
    town_must(store_watch(town->store, &watch, now + USEC_PER_SEC, now, &err), "watch", &err);
    const usec_t took = clock_boot() - start;
    town_settle(town, &taken, SETTLE_RELEASE, 0, store_now(town->store));
    return took;
}

static usec_t run_pause(struct town *town, int unused)
{
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_pause(town->store, TOWN_QUEUE, NULL, store_now(town->store), &err), "pause",
              &err);
    town_must(store_resume(town->store, TOWN_QUEUE, &err), "resume", &err);
    return clock_boot() - start;
}

/* Of a job after all the others: counted to as many as there are in any town. */
static usec_t run_count_before(struct town *town, int unused)
{
    const usec_t now = store_now(town->store);
    enum th_error_code verdicts[TOWN_BATCH];
    struct uuid ids[TOWN_BATCH];
    struct error err;
    size_t before;

    (void)unused;
    town_add(town, 0, ids);
    const struct job job = {.id = ids[TOWN_BATCH - 1], .queue = TOWN_QUEUE};
    const usec_t start = clock_boot();
    town_must(store_count_before(town->store, &job, COUNTED, &before, &err), "count_before", &err);
    const usec_t took = clock_boot() - start;
    town_must(store_cancel(town->store, ids, TOWN_BATCH, now, verdicts, &err), "cancel", &err);
    town_must(store_remove(town->store, ids, TOWN_BATCH, verdicts, &err), "remove", &err);
    return took;
}

static const struct operation operations[] = {
    {"get, ready", run_get, TOWN_READY},
    {"get, scheduled", run_get, TOWN_SCHEDULED},
    {"get, done", run_get, TOWN_DONE},
    {"get, dead", run_get, TOWN_DEAD},
    {"failures 50", run_failures, 50},
    {"stats", run_stats, 0},
    {"cancel 100", run_repair, REPAIR_CANCEL},
    {"requeue 100", run_repair, REPAIR_REQUEUE},
    {"remove 100", run_repair, REPAIR_REMOVE},
    {"run now 100", run_run_now, 0},
    {"pause, resume", run_pause, 0},
    {"count before", run_count_before, 0},
    {"watch 100", run_watch, 0},
};

const struct operation_list people_operations = {operations, COUNT_OF(operations)};
