/*
 * town.c - the calls that fill a town and work in it.
 */
#include "bench/scale/town.h"

#include "base/cleanup.h"
#include "base/random.h"
#include "base/text.h"
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

#define ROOM 1000 /* of one call, at most */

void town_must(bool worked, const char *what, const struct error *err)
{
    if (!worked)
        bench_die(what, err);
}

static void must_be_ok(const enum th_error_code *verdicts, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        if (verdicts[i] == TH_OK)
            continue;
        fprintf(stderr, "bench: %s: job %zu of %zu was refused with %d\n", what, i, count,
                (int)verdicts[i]);
        exit(EXIT_FAILURE);
    }
}

struct job town_job(struct town *town, const char *queue)
{
    static const char *const tags[] = {TOWN_TAG};
    struct job job = job_defaults();

    job.id = uuid_make(&town->ids, store_now(town->store));
    job.type = TOWN_TYPE;
    job.queue = queue;
    if (text_equal(queue, TOWN_RARE))
        job.tags = (struct tags){tags, COUNT_OF(tags)};
    return job;
}

void town_enqueue(struct town *town, struct job *jobs, size_t count, usec_t now)
{
    struct enqueued enqueued[ROOM];
    struct error err;

    town_must(store_enqueue(town->store, jobs, count, now, enqueued, &err), "enqueue", &err);
}

static struct reservation wanted_of(const struct queue_share *share, const char *pool,
                                    usec_t lease_for)
{
    struct reservation wanted = {
        .queues = share, .queue_count = 1, .pool = pool, .lease_for = lease_for};

    random_bytes(&wanted.batch, sizeof wanted.batch);
    return wanted;
}

void town_reserve(struct town *town, const char *queue, const char *pool, size_t max,
                  usec_t lease_for, usec_t now, struct job_list *jobs_out)
{
    const struct queue_share share = {.queue = queue, .max = max};
    const struct reservation wanted = wanted_of(&share, pool, lease_for);
    struct error err;

    town_must(store_reserve(town->store, &wanted, now, jobs_out, &err), "reserve", &err);
}

struct settlement town_settlement(const struct job *job, enum settlement_kind kind, usec_t now)
{
    const bool failed = kind == SETTLE_FAIL || kind == SETTLE_RETRY;

    return (struct settlement){
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = job->ref,
        .kind = kind,
        .counts = failed,
        .error = failed ? "exit 1: no such order" : NULL,
        .reason = kind == SETTLE_FAIL ? REASON_EXHAUSTED : REASON_NONE,
        .aside = kind == SETTLE_ASIDE ? ASIDE_NO_HANDLER : ASIDE_NONE,
        .aside_since = kind == SETTLE_ASIDE ? now : 0,
        .has_run = kind != SETTLE_RELEASE && kind != SETTLE_ASIDE,
        .run = {.execution = job->executions,
                .pool = TOWN_POOL,
                .worker = 1,
                .started_at = now,
                .wall = 1000,
                .user = 500,
                .system = 300,
                .max_rss_kb = 2000},
    };
}

void town_settle(struct town *town, const struct job_list *jobs, enum settlement_kind kind,
                 usec_t run_at, usec_t now)
{
    struct settlement items[ROOM];
    enum th_error_code verdicts[ROOM];
    const struct settlement_list list = {items, jobs->count};
    struct error err;

    for (size_t i = 0; i < jobs->count; i++) {
        items[i] = town_settlement(&jobs->items[i], kind, now);
        items[i].run_at = run_at;
    }
    town_must(store_settle(town->store, &list, now, verdicts, &err), "settle", &err);
    must_be_ok(verdicts, jobs->count, "settle");
}

void town_exchange(struct town *town, struct job_list *jobs, const struct queue_share *share,
                   usec_t now)
{
    struct settlement items[ROOM];
    enum th_error_code verdicts[ROOM];
    const struct settlement_list list = {items, jobs->count};
    const struct reservation wanted = wanted_of(share, TOWN_POOL, USEC_PER_HOUR);
    struct job_list next = {0};
    struct error err;

    for (size_t i = 0; i < jobs->count; i++)
        items[i] = town_settlement(&jobs->items[i], SETTLE_ACK, now);
    town_must(store_exchange(town->store, &list, &wanted, 1, now, verdicts, &next, &err),
              "exchange", &err);
    must_be_ok(verdicts, jobs->count, "exchange");
    job_list_done(jobs);
    *jobs = next;
}

void town_add(struct town *town, usec_t run_at, struct uuid ids_out[TOWN_BATCH])
{
    struct job jobs[TOWN_BATCH];

    for (size_t i = 0; i < TOWN_BATCH; i++) {
        jobs[i] = town_job(town, TOWN_QUEUE);
        jobs[i].run_at = run_at;
        if (ids_out)
            ids_out[i] = jobs[i].id;
    }
    town_enqueue(town, jobs, TOWN_BATCH, store_now(town->store));
}
