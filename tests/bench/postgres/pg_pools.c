/*
 * pg_pools.c - do many pools on one database make exchanges slower?
 *
 * Each pool is a process with two connections, as thd has them under load: its dispatcher's, and
 * one for what its services do. All are registered, hold leases, beat, and look for what is due;
 * some work, the others wait for the bell.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/postgres/pg_ways.h"
#include "bench/store_ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS   4
#define ROUNDS    3
#define LOOK      USEC_PER_SEC /* for what is due, as scheduler and retrier do */
#define BEAT      5            /* of these looks one comes with a heartbeat */
#define HELD      4            /* jobs that an idle pool runs */
#define JOBS      400000
#define POOLS_MAX 100

struct crowd {
    const char *name;
    size_t busy, idle;
    size_t batch;
};

/* One pool, in its own process. */
struct member {
    char name[32];
    struct store *dispatcher, *services;
    struct job_list jobs;
    usec_t next_look;
    size_t looks;
};

static void enter(struct member *member, const char *url, size_t number)
{
    struct pool pool = {.name = member->name, .host = "bench", .pid = getpid()};
    struct error err;

    snprintf(member->name, sizeof member->name, "pool-%zu", number);
    member->dispatcher = bench_store(url);
    member->services = bench_store(url);
    pool.started_at = store_now(member->services);
    if (!store_pool_register(member->services, &pool, pool.started_at, &err))
        bench_die("register", &err);
    bench_exchange(member->dispatcher, member->name, HELD, 0, &member->jobs);
}

static void beat(struct member *member, usec_t now)
{
    struct lease_beat *beats = calloc(member->jobs.count + 1, sizeof *beats);
    struct lease_answer *answers = calloc(member->jobs.count + 1, sizeof *answers);
    struct heartbeat heartbeat = {.pool = member->name,
                                  .leases = beats,
                                  .lease_count = member->jobs.count,
                                  .lease_for = BENCH_LEASE};
    struct pool_answer told;
    struct error err;

    for (size_t i = 0; i < member->jobs.count; i++) {
        const struct job *job = &member->jobs.items[i];
        beats[i] = (struct lease_beat){.job = job->id,
                                       .queue = job->queue,
                                       .token = job->token,
                                       .ref = job->ref,
                                       .progress_percent = -1};
    }
    if (!store_heartbeat(member->services, &heartbeat, 1, now, answers, &told, &err))
        bench_die("heartbeat", &err);
    free(beats);
    free(answers);
}

static void serve(struct member *member)
{
    usec_t now = store_now(member->services), next_due;
    size_t moved;
    struct error err;

    if (clock_boot() < member->next_look)
        return;
    if (member->looks++ % BEAT == 0)
        beat(member, now);
    if (!store_promote(member->services, JOB_SCHEDULED, now, 1000, &moved, &next_due, &err) ||
        !store_promote(member->services, JOB_RETRY, now, 1000, &moved, &next_due, &err))
        bench_die("promote", &err);
    member->next_look = clock_boot() + LOOK;
}

static size_t work_until(struct member *member, size_t batch, usec_t end)
{
    size_t done = 0;

    while (clock_boot() < end) {
        serve(member);
        done += member->jobs.count;
        bench_exchange(member->dispatcher, member->name, batch, 0, &member->jobs);
    }
    return done;
}

static void wait_until(struct member *member, usec_t end)
{
    struct error err;
    bool rang;

    while (clock_boot() < end) {
        serve(member);
        usec_t until = member->next_look < end ? member->next_look : end;
        if (!store_wait(member->dispatcher, until - clock_boot(), &rang, &err))
            bench_die("wait", &err);
    }
}

/* Says when it is there, and what it has done. */
static void be_member(const char *url, const struct crowd *crowd, size_t number, const int go[2],
                      const int report[2])
{
    struct member member = {0};
    size_t done = 0;
    char byte = 0;

    close(go[1]);
    enter(&member, url, number);
    /* Spread as those of pools that were started at different times. */
    member.next_look = clock_boot() + LOOK * (usec_t)number / POOLS_MAX;
    member.looks = number;
    (void)!write(report[1], &done, sizeof done);
    (void)!read(go[0], &byte, 1); /* ends when all are there */
    usec_t end = clock_boot() + SECONDS * USEC_PER_SEC;
    if (number < crowd->busy)
        done = work_until(&member, crowd->batch, end);
    else
        wait_until(&member, end);
    (void)!write(report[1], &done, sizeof done);
    _exit(EXIT_SUCCESS);
}

static size_t sum_reports(int fd, size_t count)
{
    size_t sum = 0, one;

    for (size_t i = 0; i < count; i++)
        if (read(fd, &one, sizeof one) == (ssize_t)sizeof one)
            sum += one;
    return sum;
}

static double rate_of(const char *url, const struct crowd *crowd)
{
    const char *fresh = pg_fresh_url(url);
    struct store *store = bench_store(fresh);
    size_t count = crowd->busy + crowd->idle;
    int go[2], report[2];

    bench_fill(store, (struct bench_size){JOBS, 1000});
    store_close(&store);
    if (pipe(go) != 0 || pipe(report) != 0)
        exit(EXIT_FAILURE);
    fflush(stdout);
    for (size_t i = 0; i < count; i++)
        if (fork() == 0)
            be_member(fresh, crowd, i, go, report);
    close(go[0]);
    close(report[1]);
    (void)sum_reports(report[0], count);
    close(go[1]);
    size_t done = sum_reports(report[0], count);
    while (wait(NULL) > 0)
        continue;
    close(report[0]);
    return (double)done / SECONDS;
}

void pg_pools_print(const char *url)
{
    static const struct crowd crowds[] = {
        {"exchange 100, 1 pool", 1, 0, 100},
        {"  and 99 that wait", 1, POOLS_MAX - 1, 100},
        {"  8 pools", 8, 0, 100},
        {"  and 92 that wait", 8, POOLS_MAX - 8, 100},
        {"  100 pools", POOLS_MAX, 0, 100},
    };
    double sums[COUNT_OF(crowds)] = {0};

    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < COUNT_OF(crowds); i++)
            sums[i] += rate_of(url, &crowds[i]);
    for (size_t i = 0; i < COUNT_OF(crowds); i++)
        printf("%-34s %10.0f jobs/s: %.2f of that by one\n", crowds[i].name, sums[i] / ROUNDS,
               sums[i] / sums[0]);
}
