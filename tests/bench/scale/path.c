/*
 * path.c - the path of a job: enqueue, reserve, exchange, settle.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/scale/operations.h"

static usec_t run_enqueue(struct town *town, int count)
{
    struct job jobs[TOWN_BATCH];
    CLEANUP(job_list_done) struct job_list added = {0};

    for (int i = 0; i < count; i++)
        jobs[i] = town_job(town, TOWN_QUEUE);
    const usec_t start = clock_boot();
    town_enqueue(town, jobs, (size_t)count, store_now(town->store));
    const usec_t took = clock_boot() - start;

    /* As many leave as came: the queue stays as long as it was. */
    town_reserve(town, TOWN_QUEUE, TOWN_POOL, (size_t)count, USEC_PER_HOUR, store_now(town->store),
                 &added);
    town_settle(town, &added, SETTLE_ACK, 0, store_now(town->store));
    town->done += added.count;
    return took;
}

/* The name of the first ready job that has one, and of the first scheduled one. */
static usec_t run_enqueue_known(struct town *town, int is_key)
{
    struct job job = town_job(town, TOWN_OTHER);

    if (is_key)
        job.key = TOWN_NAME;
    else {
        job.idempotency_key = TOWN_NAME;
        job.idempotency_expires = store_now(town->store) + USEC_PER_DAY;
    }
    const usec_t start = clock_boot();
    town_enqueue(town, &job, 1, store_now(town->store));
    return clock_boot() - start;
}

static usec_t run_reserve(struct town *town, int count)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const usec_t start = clock_boot();

    town_reserve(town, TOWN_QUEUE, TOWN_POOL, (size_t)count, USEC_PER_HOUR, store_now(town->store),
                 &taken);
    const usec_t took = clock_boot() - start;
    town_settle(town, &taken, SETTLE_RELEASE, 0, store_now(town->store));
    return took;
}

static usec_t run_exchange(struct town *town, int max_running)
{
    const struct queue_share share = {
        .queue = TOWN_QUEUE, .max = TOWN_BATCH, .max_running = (size_t)max_running};
    CLEANUP(job_list_done) struct job_list taken = {0};

    town_add(town, 0, NULL);
    town_reserve(town, TOWN_QUEUE, TOWN_POOL, TOWN_BATCH, USEC_PER_HOUR, store_now(town->store),
                 &taken);
    const usec_t start = clock_boot();
    town_exchange(town, &taken, &share, store_now(town->store));
    const usec_t took = clock_boot() - start;
    town->done += TOWN_BATCH;
    town_settle(town, &taken, SETTLE_RELEASE, 0, store_now(town->store));
    return took;
}

static usec_t run_settle(struct town *town, int kind)
{
    CLEANUP(job_list_done) struct job_list taken = {0};

    if (kind != SETTLE_RELEASE)
        town_add(town, 0, NULL);
    town_reserve(town, TOWN_QUEUE, TOWN_POOL, TOWN_BATCH, USEC_PER_HOUR, store_now(town->store),
                 &taken);
    const usec_t now = store_now(town->store);
    const usec_t later = kind == SETTLE_RETRY || kind == SETTLE_SNOOZE ? now + USEC_PER_DAY : 0;
    const usec_t start = clock_boot();
    town_settle(town, &taken, (enum settlement_kind)kind, later, now);
    town->done += kind == SETTLE_ACK ? taken.count : 0;
    return clock_boot() - start;
}

static const struct operation operations[] = {
    {"enqueue 1", run_enqueue, 1},
    {"enqueue 100", run_enqueue, TOWN_BATCH},
    {"enqueue, key of one that waits", run_enqueue_known, true},
    {"enqueue, known idempotency key", run_enqueue_known, false},
    {"reserve 1", run_reserve, 1},
    {"reserve 100", run_reserve, TOWN_BATCH},
    {"exchange 100", run_exchange, 0},
    {"exchange 100, max_running", run_exchange, 1000000},
    {"settle 100: ack", run_settle, SETTLE_ACK},
    {"settle 100: retry", run_settle, SETTLE_RETRY},
    {"settle 100: fail", run_settle, SETTLE_FAIL},
    {"settle 100: release", run_settle, SETTLE_RELEASE},
    {"settle 100: snooze", run_settle, SETTLE_SNOOZE},
};

const struct operation_list path_operations = {operations, COUNT_OF(operations)};
