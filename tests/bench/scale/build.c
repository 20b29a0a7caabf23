/*
 * build.c - fills a town through the store itself, so that every driver's own structures are as
 * they would be after all these jobs have really happened.
 */
#include "bench/scale/town.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define BATCH_MAX    ((size_t)1000)
#define FILL_BATCH   ((size_t)50) /* come, and end, at the same moment, in towns of any size */
#define OTHER_QUEUES 9
#define KEYED_EVERY  10 /* ready jobs with a key, scheduled ones with an idempotency key */
#define NAME_SIZE    32

/* What comes in within minutes is added up within minutes. */
#define REAPER_PASSES 20

/* One pass of filling: `count` jobs of a kind. */
struct filling {
    struct town *town;
    enum town_kind kind;
    size_t count, added;
    usec_t start, step;    /* when the first one was enqueued or is due, and the next ones */
    struct job_list taken; /* reserved, and settled with the next batch */
    char names[FILL_BATCH][NAME_SIZE];
};

static bool is_ended(enum town_kind kind)
{
    return kind == TOWN_DONE || kind == TOWN_DEAD;
}

static void pick_queue(size_t batch, char name[NAME_SIZE])
{
    if (batch % 2 == 0)
        snprintf(name, NAME_SIZE, TOWN_QUEUE);
    else
        snprintf(name, NAME_SIZE, "other%zu", batch / 2 % OTHER_QUEUES);
}

/* None in the working queue: what is taken there has to be of one kind however many there are. */
static void give_name(struct filling *filling, struct job *job, size_t index)
{
    char *name = filling->names[index];

    if ((filling->added + index) % KEYED_EVERY != 0 || is_ended(filling->kind) ||
        text_equal(job->queue, TOWN_QUEUE))
        return;
    snprintf(name, NAME_SIZE, "name-%zu", filling->added + index);
    if (filling->kind == TOWN_READY)
        job->key = name;
    else {
        job->idempotency_key = name;
        job->idempotency_expires = store_now(filling->town->store) + USEC_PER_DAY;
    }
}

static usec_t time_of(const struct filling *filling, size_t number)
{
    return filling->start + (usec_t)number * filling->step;
}

/* The last one in the first half that nobody will work on. */
static void remember(struct filling *filling, const struct job *job, size_t number)
{
    if (number > filling->count / 2 || text_equal(job->queue, TOWN_QUEUE))
        return;
    filling->town->known[filling->kind] = job->id;
    filling->town->middle[filling->kind] = time_of(filling, number);
}

static void enqueue_batch(struct filling *filling, const char *queue, size_t count, usec_t now)
{
    struct job jobs[FILL_BATCH];

    for (size_t i = 0; i < count; i++) {
        jobs[i] = town_job(filling->town, queue);
        if (filling->kind == TOWN_SCHEDULED)
            jobs[i].run_at = time_of(filling, filling->added + i);
        give_name(filling, &jobs[i], i);
        remember(filling, &jobs[i], filling->added + i);
    }
    town_enqueue(filling->town, jobs, count, now);
}

/* What was just enqueued is all that is ready there. */
static void end_batch(struct filling *filling, const char *queue, size_t count, usec_t now)
{
    const struct queue_share share = {.queue = queue, .max = count};

    if (filling->kind == TOWN_DONE) {
        town_exchange(filling->town, &filling->taken, &share, now);
        return;
    }
    CLEANUP(job_list_done) struct job_list taken = {0};
    town_reserve(filling->town, queue, TOWN_POOL, count, USEC_PER_HOUR, now, &taken);
    town_settle(filling->town, &taken, SETTLE_FAIL, 0, now);
}

static void fill(struct town *town, enum town_kind kind, size_t count, usec_t start, usec_t span)
{
    static struct filling filling;
    const size_t batch = count < FILL_BATCH ? count : FILL_BATCH;
    char queue[NAME_SIZE];

    filling = (struct filling){
        .town = town, .kind = kind, .count = count, .start = start, .step = span / (usec_t)count};
    for (size_t number = 0; filling.added < count; number++) {
        const usec_t now =
            kind == TOWN_SCHEDULED ? store_now(town->store) : time_of(&filling, filling.added);
        const size_t left = count - filling.added;

        pick_queue(number, queue);
        enqueue_batch(&filling, queue, left < batch ? left : batch, now);
        if (is_ended(kind))
            end_batch(&filling, queue, batch, now);
        if (kind == TOWN_DONE && text_equal(queue, TOWN_QUEUE))
            town->done += left < batch ? left : batch;
        filling.added += left < batch ? left : batch;
    }
    if (filling.taken.count > 0)
        town_settle(town, &filling.taken, SETTLE_ACK, 0, time_of(&filling, filling.added));
    job_list_done(&filling.taken);
}

/* ---- the few among the many ---- */

static void add_few(struct town *town, const char *queue, const char *key, size_t count)
{
    static char keys[TOWN_BATCH][NAME_SIZE];
    struct job jobs[TOWN_BATCH];

    for (size_t i = 0; i < count; i++) {
        jobs[i] = town_job(town, queue);
        snprintf(keys[i], NAME_SIZE, "%s%zu", !key ? "" : key, i);
        jobs[i].key = !key ? NULL : keys[i];
    }
    town_enqueue(town, jobs, count, store_now(town->store));
}

static void add_few_ended(struct town *town, enum settlement_kind kind, usec_t run_at)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const usec_t now = store_now(town->store);

    add_few(town, TOWN_RARE, NULL, TOWN_FEW);
    town_reserve(town, TOWN_RARE, TOWN_POOL, TOWN_FEW, USEC_PER_HOUR, now, &taken);
    town_settle(town, &taken, kind, run_at, now);
}

static void add_aside(struct town *town, size_t count)
{
    const usec_t now = store_now(town->store);

    for (size_t added = 0; added < count; added += TOWN_BATCH) {
        CLEANUP(job_list_done) struct job_list taken = {0};

        add_few(town, TOWN_SHELF, NULL, TOWN_BATCH);
        town_reserve(town, TOWN_SHELF, TOWN_POOL, TOWN_BATCH, USEC_PER_HOUR, now, &taken);
        town_settle(town, &taken, SETTLE_ASIDE, 0, now);
    }
}

static void add_few_cancelled(struct town *town)
{
    enum th_error_code verdicts[TOWN_FEW];
    struct uuid ids[TOWN_FEW];
    struct error err;

    for (size_t i = 0; i < TOWN_FEW; i++) {
        struct job job = town_job(town, TOWN_RARE);
        ids[i] = job.id;
        town_enqueue(town, &job, 1, store_now(town->store));
    }
    town_must(store_cancel(town->store, ids, TOWN_FEW, store_now(town->store), verdicts, &err),
              "cancel", &err);
}

static void add_few_running(struct town *town)
{
    CLEANUP(job_list_done) struct job_list twins = {0};
    const usec_t now = store_now(town->store);

    add_few(town, "held", NULL, TOWN_BATCH);
    town_reserve(town, "held", TOWN_HOLDER, TOWN_BATCH, USEC_PER_DAY, now, &town->held);
    /* And twins of jobs that run: blocked. */
    add_few(town, TOWN_RARE, "twin", TOWN_FEW);
    town_reserve(town, TOWN_RARE, TOWN_HOLDER "2", TOWN_FEW, USEC_PER_DAY, now, &twins);
    add_few(town, TOWN_RARE, "twin", TOWN_FEW);
}

static void register_pools(struct town *town)
{
    static const char *const names[] = {TOWN_POOL, TOWN_HOLDER, TOWN_HOLDER "2"};
    const usec_t now = store_now(town->store);
    struct error err;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct pool pool = {.name = names[i], .host = "here", .pid = 1, .started_at = now};

        town_must(store_pool_register(town->store, &pool, now, &err), "register", &err);
    }
}

/* As a reaper does now and then: nothing is removed, and the counts are added up. */
static void reap(struct town *town)
{
    const struct retention keep = {.done = USEC_MAX, .done_max = SIZE_MAX, .dead = USEC_MAX};
    struct error err;
    size_t removed;

    for (int pass = 0; pass < REAPER_PASSES; pass++)
        town_must(
            store_prune(town->store, &keep, store_now(town->store), BATCH_MAX, &removed, &err),
            "prune", &err);
}

static void open_store(struct town *town)
{
    const struct store_options options = {.migrate = true};
    struct error err;

    town_must(store_open(town->url, &options, &town->store, &err), "open", &err);
}

void town_build(struct town *town, const char *url, size_t around)
{
    *town = (struct town){.url = url, .around = around};
    open_store(town);
    const usec_t now = store_now(town->store);

    town->slot = now;
    register_pools(town);
    fill(town, TOWN_DONE, around / 3, now - 2 * USEC_PER_HOUR, 90 * USEC_PER_MIN);
    fill(town, TOWN_DEAD, around / 30, now - 2 * USEC_PER_HOUR, 90 * USEC_PER_MIN);
    add_few_ended(town, SETTLE_ACK, 0);
    add_few_ended(town, SETTLE_FAIL, 0);
    add_few_ended(town, SETTLE_RETRY, now + USEC_PER_DAY);
    add_few_cancelled(town);
    add_few_running(town);
    add_aside(town, around / 10);
    fill(town, TOWN_SCHEDULED, around / 3, now + USEC_PER_DAY, USEC_PER_DAY);
    add_few(town, TOWN_RARE, NULL, TOWN_FEW);
    fill(town, TOWN_READY, around * 3 / 10, now - 2 * USEC_PER_HOUR, 90 * USEC_PER_MIN);
    reap(town);
}

void town_build_done(const char *url, size_t count)
{
    const struct queue_share share = {.queue = JOB_QUEUE_DEFAULT, .max = BATCH_MAX};
    CLEANUP(town_close) struct town town = {.url = url};
    CLEANUP(job_list_done) struct job_list taken = {0};
    static struct job jobs[BATCH_MAX];

    open_store(&town);
    for (size_t added = 0; added < count; added += BATCH_MAX) {
        for (size_t i = 0; i < BATCH_MAX; i++)
            jobs[i] = town_job(&town, JOB_QUEUE_DEFAULT);
        town_enqueue(&town, jobs, BATCH_MAX, store_now(town.store));
        town_exchange(&town, &taken, &share, store_now(town.store));
    }
    town_settle(&town, &taken, SETTLE_ACK, 0, store_now(town.store));
}

void town_close(struct town *town)
{
    job_list_done(&town->held);
    store_close(&town->store);
}
