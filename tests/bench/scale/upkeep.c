/*
 * upkeep.c - what a pool's other processes do: heartbeat, promote, reclaim, prune, cron.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/scale/operations.h"

#include <stdio.h>
#include <stdlib.h>

#define LIMIT 1000

static void must_move(size_t wanted, size_t moved, const char *what)
{
    if (moved == wanted)
        return;
    fprintf(stderr, "bench: %s: %zu jobs instead of %zu\n", what, moved, wanted);
    exit(EXIT_FAILURE);
}

static usec_t run_heartbeat(struct town *town, int count)
{
    struct lease_beat beats[TOWN_BATCH] = {0};
    struct lease_answer answers[TOWN_BATCH];
    struct heartbeat heartbeat = {.pool = TOWN_HOLDER,
                                  .leases = beats,
                                  .lease_count = (size_t)count,
                                  .lease_for = USEC_PER_DAY};
    struct error err;
    struct pool_answer told;

    for (int i = 0; i < count; i++) {
        const struct job *job = &town->held.items[i];

        beats[i] = (struct lease_beat){.job = job->id,
                                       .queue = job->queue,
                                       .token = job->token,
                                       .ref = job->ref,
                                       .worker = 1,
                                       .progress_percent = -1};
    }
    const usec_t start = clock_boot();
    town_must(
        store_heartbeat(town->store, &heartbeat, 1, store_now(town->store), answers, &told, &err),
        "heartbeat", &err);
    const usec_t took = clock_boot() - start;
    for (int i = 0; i < count; i++)
        must_move(TH_OK, answers[i].verdict, "heartbeat");
    return took;
}

static usec_t run_held(struct town *town, int unused)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    struct error err;

    (void)unused;
    const usec_t start = clock_boot();
    town_must(store_held(town->store, TOWN_HOLDER, &held, &err), "held", &err);
    const usec_t took = clock_boot() - start;
    must_move(TOWN_BATCH, held.count, "held");
    return took;
}

/* The jobs that became ready wait after all others, and leave as others do. */
static usec_t run_promote(struct town *town, int count)
{
    const usec_t now = store_now(town->store);
    struct uuid ids[TOWN_BATCH];
    usec_t next_due;
    struct error err;
    size_t moved;

    if (count > 0)
        town_add(town, now + 10 * USEC_PER_SEC, ids);
    const usec_t start = clock_boot();
    town_must(store_promote(town->store, JOB_SCHEDULED, now + 20 * USEC_PER_SEC, LIMIT, &moved,
                            &next_due, &err),
              "promote", &err);
    const usec_t took = clock_boot() - start;
    must_move((size_t)count, moved, "promote");
    return took;
}

static usec_t run_reclaim(struct town *town, int count)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const usec_t now = store_now(town->store);
    struct error err;
    size_t moved;

    if (count > 0)
        town_reserve(town, TOWN_QUEUE, TOWN_POOL, (size_t)count, USEC_PER_SEC, now, &taken);
    const usec_t start = clock_boot();
    town_must(store_reclaim(town->store, now + 2 * USEC_PER_SEC, LIMIT, &moved, &err), "reclaim",
              &err);
    const usec_t took = clock_boot() - start;
    must_move((size_t)count, moved, "reclaim");
    return took;
}

static void end_some(struct town *town, usec_t at)
{
    CLEANUP(job_list_done) struct job_list taken = {0};

    town_add(town, 0, NULL);
    town_reserve(town, TOWN_QUEUE, TOWN_POOL, TOWN_BATCH, USEC_PER_DAY, at, &taken);
    town_settle(town, &taken, SETTLE_ACK, 0, at);
    town->done += taken.count;
}

static usec_t prune(struct town *town, const struct retention *keep, size_t wanted)
{
    const usec_t start = clock_boot();
    struct error err;
    size_t removed;

    town_must(store_prune(town->store, keep, store_now(town->store), LIMIT, &removed, &err),
              "prune", &err);
    const usec_t took = clock_boot() - start;
    must_move(wanted, removed, "prune");
    return took;
}

static usec_t run_prune_age(struct town *town, int count)
{
    const struct retention keep = {
        .done = 12 * USEC_PER_HOUR, .done_max = SIZE_MAX, .dead = USEC_MAX};

    if (count > 0) {
        end_some(town, store_now(town->store) - USEC_PER_DAY);
        town->done -= TOWN_BATCH;
    }
    return prune(town, &keep, (size_t)count);
}

static usec_t run_prune_number(struct town *town, int count)
{
    const struct retention keep = {.done = USEC_MAX, .done_max = town->done, .dead = USEC_MAX};

    if (count > 0) {
        end_some(town, store_now(town->store));
        town->done -= TOWN_BATCH;
    }
    return prune(town, &keep, (size_t)count);
}

static usec_t run_cron_enqueue(struct town *town, int unused)
{
    struct job job = town_job(town, TOWN_QUEUE);
    struct error err;
    bool stored;

    (void)unused;
    town->slot += USEC_PER_SEC;
    const usec_t start = clock_boot();
    town_must(store_cron_enqueue(town->store, "bench", town->slot, &job, store_now(town->store),
                                 &stored, &err),
              "cron_enqueue", &err);
    return clock_boot() - start;
}

static usec_t run_cron_last(struct town *town, int unused)
{
    const usec_t start = clock_boot();
    struct error err;
    struct cron_past past;

    (void)unused;
    town_must(store_cron_last(town->store, "bench", store_now(town->store), &past, &err),
              "cron_last", &err);
    return clock_boot() - start;
}

static usec_t run_publish(struct town *town, int unused)
{
    const struct store_limits limits = {JOB_PAYLOAD_DEFAULT, USEC_PER_DAY};
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_publish(town->store, &limits, &err), "publish", &err);
    return clock_boot() - start;
}

static usec_t run_pools(struct town *town, int unused)
{
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_pools(town->store, &pools, &err), "pools", &err);
    return clock_boot() - start;
}

static usec_t run_pool_comes_and_goes(struct town *town, int unused)
{
    const usec_t now = store_now(town->store);
    const struct pool pool = {.name = "visitor", .host = "here", .pid = 2, .started_at = now};
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_pool_register(town->store, &pool, now, &err), "register", &err);
    town_must(store_pool_want(town->store, "visitor", POOL_WANT_QUIET, NULL, now, &err),
              "pool_want", &err);
    town_must(store_pool_remove(town->store, "visitor", &err), "pool_remove", &err);
    return clock_boot() - start;
}

static usec_t run_remove_silent(struct town *town, int unused)
{
    CLEANUP(pool_list_done) struct pool_list removed = {0};
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_pool_remove_silent(town->store, USEC_PER_SEC, &removed, &err),
              "pool_remove_silent", &err);
    return clock_boot() - start;
}

static usec_t run_open(struct town *town, int unused)
{
    const struct store_options options = {.migrate = true};
    struct store *store = NULL;
    const usec_t start = clock_boot();
    struct error err;

    (void)unused;
    town_must(store_open(town->url, &options, &store, &err), "open", &err);
    store_close(&store);
    return clock_boot() - start;
}

static const struct operation operations[] = {
    {"open and close", run_open, 0},
    {"heartbeat, 100 leases", run_heartbeat, TOWN_BATCH},
    {"heartbeat, none", run_heartbeat, 0},
    {"held, 100", run_held, 0},
    {"promote 100", run_promote, TOWN_BATCH},
    {"promote, nothing due", run_promote, 0},
    {"reclaim 100", run_reclaim, TOWN_BATCH},
    {"reclaim, nothing lost", run_reclaim, 0},
    {"prune 100 by age", run_prune_age, TOWN_BATCH},
    {"prune 100 by number", run_prune_number, TOWN_BATCH},
    {"prune by age, nothing old", run_prune_age, 0},
    {"prune by number, nothing over", run_prune_number, 0},
    {"cron_enqueue", run_cron_enqueue, 0},
    {"cron_last", run_cron_last, 0},
    {"publish", run_publish, 0},
    {"pools", run_pools, 0},
    {"pool_register, pool_remove", run_pool_comes_and_goes, 0},
    {"pool_remove_silent", run_remove_silent, 0},
};

const struct operation_list upkeep_operations = {operations, COUNT_OF(operations)};
