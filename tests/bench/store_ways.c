/*
 * store_ways.c - the work done through the store, as the daemon does it.
 */
#include "bench/store_ways.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/ways.h"

#include <stdlib.h>
#include <string.h>

void bench_fill(struct store *store, struct bench_size size)
{
    struct job *jobs = calloc(size.batch, sizeof *jobs);
    struct enqueued *enqueued = calloc(size.batch, sizeof *enqueued);
    struct uuid_maker ids = {0};
    struct error err;

    for (size_t done = 0; done < size.jobs; done += size.batch) {
        usec_t now = store_now(store);
        for (size_t i = 0; i < size.batch; i++) {
            jobs[i] = job_defaults();
            jobs[i].id = uuid_make(&ids, now);
            jobs[i].type = "noop:job";
            jobs[i].payload = bench_payload();
        }
        if (!store_enqueue(store, jobs, size.batch, now, enqueued, &err))
            bench_die("enqueue", &err);
    }
    free(jobs);
    free(enqueued);
}

usec_t store_enqueue_way(const char *folder, struct bench_size size)
{
    CLEANUP(store_close) struct store *store = bench_store(bench_fresh_path(folder));
    usec_t start = clock_boot();

    bench_fill(store, size);
    return clock_boot() - start;
}

struct reservation bench_wanted(const struct queue_share *share)
{
    struct reservation wanted = {
        .queues = share, .queue_count = 1, .pool = "bench", .lease_for = BENCH_LEASE};

    random_bytes(&wanted.batch, sizeof wanted.batch);
    return wanted;
}

/* What a worker would have reported. */
static struct settlement ack_of(const struct job *job, usec_t now, bool forget)
{
    return (struct settlement){
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = job->ref,
        .kind = SETTLE_ACK,
        .forget = forget,
        .has_run = true,
        .run = {.execution = 1,
                .pool = "bench",
                .worker = 1,
                .started_at = now,
                .wall = 1000,
                .user = 500,
                .system = 300,
                .max_rss_kb = 2000},
    };
}

static void exchange_once(struct store *store, struct job_list *jobs, size_t batch, bool forget,
                          struct settlement *finished, enum th_error_code *verdicts)
{
    struct queue_share share = {.queue = JOB_QUEUE_DEFAULT, .max = batch};
    struct reservation wanted = bench_wanted(&share);
    struct settlement_list list = {finished, jobs->count};
    struct job_list next = {0};
    struct error err;
    usec_t now = store_now(store);

    for (size_t i = 0; i < jobs->count; i++)
        finished[i] = ack_of(&jobs->items[i], now, forget);
    if (!store_exchange(store, &list, &wanted, 1, now, verdicts, &next, &err))
        bench_die("exchange", &err);
    for (size_t i = 0; i < jobs->count; i++)
        if (verdicts[i] != TH_OK)
            bench_die("exchange: a settlement was refused", &err);
    job_list_done(jobs);
    *jobs = next;
}

static usec_t exchange(const char *folder, struct bench_size size, bool forget)
{
    const char *path = bench_fresh_path(folder);
    struct store *store = bench_store(path);
    struct settlement *finished = calloc(size.batch, sizeof *finished);
    enum th_error_code *verdicts = calloc(size.batch, sizeof *verdicts);
    CLEANUP(job_list_done) struct job_list jobs = {0};

    bench_fill(store, (struct bench_size){size.jobs, size.batch < 100 ? 100 : size.batch});
    store_close(&store); /* and with it goes the write-ahead log, as for the bare loops */
    store = bench_store(path);
    usec_t start = clock_boot();
    do
        exchange_once(store, &jobs, size.batch, forget, finished, verdicts);
    while (jobs.count > 0);
    usec_t elapsed = clock_boot() - start;
    store_close(&store);
    free(finished);
    free(verdicts);
    return elapsed;
}

usec_t store_exchange_keep(const char *folder, struct bench_size size)
{
    return exchange(folder, size, false);
}

usec_t store_exchange_forget(const char *folder, struct bench_size size)
{
    return exchange(folder, size, true);
}

void bench_reserve(struct store *store, size_t max, struct job_list *jobs_out)
{
    struct queue_share share = {.queue = JOB_QUEUE_DEFAULT, .max = max};
    struct reservation wanted = bench_wanted(&share);
    struct error err;

    if (!store_reserve(store, &wanted, store_now(store), jobs_out, &err))
        bench_die("reserve", &err);
}

void bench_exchange(struct store *store, const char *pool, size_t max, size_t results,
                    struct job_list *jobs)
{
    static const struct bytes result = {(const unsigned char *)"{\"ok\":1}", 8};
    struct queue_share share = {.queue = JOB_QUEUE_DEFAULT, .max = max};
    struct reservation wanted = bench_wanted(&share);
    struct settlement *finished = calloc(jobs->count + 1, sizeof *finished);
    enum th_error_code *verdicts = calloc(jobs->count + 1, sizeof *verdicts);
    struct settlement_list list = {finished, jobs->count};
    struct job_list next = {0};
    struct error err;

    wanted.pool = pool;
    for (size_t i = 0; i < jobs->count; i++)
        finished[i] = (struct settlement){
            .job = jobs->items[i].id,
            .queue = jobs->items[i].queue,
            .token = jobs->items[i].token,
            .ref = jobs->items[i].ref,
            .kind = SETTLE_ACK,
            .result = results > 0 && i % results == 0 ? result : (struct bytes){0},
            .forget = true};
    if (!store_exchange(store, &list, &wanted, 1, store_now(store), verdicts, &next, &err))
        bench_die("exchange", &err);
    job_list_done(jobs);
    *jobs = next;
    free(finished);
    free(verdicts);
}
