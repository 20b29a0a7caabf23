/*
 * scene.c - what a case starts with, and the few moves that nearly every case makes.
 */
#include "scene.h"

#include "base/random.h"

#include <stdio.h>
#include <string.h>

/* A server that is busy with the tests beside this one may answer too late. */
#define OPEN_TRIES 5

static struct {
    const struct backend *backend;
    char root[64];
    char shared_url[BACKEND_URL_SIZE];
    struct keeper keeper; /* of the shared database */
    bool shares_handle;
    struct store *handle; /* to the shared database, while no scene has it */
    size_t queues;        /* that the shared database has got since it is this one */
} run;

static void random_name(const char *prefix, char *name, size_t size)
{
    unsigned char bytes[8];

    random_bytes(bytes, sizeof bytes);
    snprintf(name, size, "%s%02x%02x%02x%02x%02x%02x%02x%02x", prefix, bytes[0], bytes[1], bytes[2],
             bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
}

static struct scene scene_at(const char *url)
{
    struct scene scene = {0};

    snprintf(scene.url, sizeof scene.url, "%s", url);
    random_name("queue-", scene.queue, sizeof scene.queue);
    return scene;
}

void scene_use_backend(const struct backend *backend, const char *root)
{
    run.backend = backend;
    snprintf(run.root, sizeof run.root, "%s", root);
    backend->fresh_url(run.root, "shared", run.shared_url);
    if (backend->fleeting)
        run.keeper = keeper_start(run.shared_url);
}

void scene_share_handle(void)
{
    run.shares_handle = true;
}

void scene_drop_handle(void)
{
    store_close(&run.handle);
}

void scene_leave_backend(void)
{
    scene_drop_handle();
    keeper_end(&run.keeper);
    run.backend->clean_up(run.root);
}

const struct backend *scene_backend(void)
{
    return run.backend;
}

static void change_database(void)
{
    char serial[32];

    scene_drop_handle();
    random_name("", serial, sizeof serial);
    run.backend->fresh_url(run.root, serial, run.shared_url);
    run.queues = 0;
}

struct scene scene_open(void)
{
    if (run.handle && run.backend->queues_max != 0 && run.queues > run.backend->queues_max)
        change_database();
    struct scene scene = scene_at(run.shared_url);

    run.queues++;
    scene.store = run.handle;
    run.handle = NULL;
    if (!scene.store)
        scene_reopen(&scene);
    return scene;
}

struct scene scene_open_fresh(void)
{
    struct scene scene = scene_name_fresh();

    if (run.backend->fleeting)
        scene.keeper = keeper_start(scene.url);
    scene_reopen(&scene);
    return scene;
}

struct scene scene_name_fresh(void)
{
    char serial[32], url[BACKEND_URL_SIZE];

    random_name("", serial, sizeof serial);
    run.backend->fresh_url(run.root, serial, url);
    return scene_at(url);
}

void scene_close(struct scene *scene)
{
    if (run.shares_handle && !run.handle && strcmp(scene->url, run.shared_url) == 0) {
        run.handle = scene->store;
        scene->store = NULL;
    }
    store_close(&scene->store);
    keeper_end(&scene->keeper);
}

void scene_reopen(struct scene *scene)
{
    struct error err = {0};
    bool is_open = false;

    store_close(&scene->store);
    for (int tries = 0; tries < OPEN_TRIES && !is_open; tries++) {
        is_open = backend_open(run.backend, scene->url, scene->deadline, &scene->store, &err);
        if (!is_open && err.code != TH_E_UNAVAILABLE)
            break;
    }
    MUST(is_open);
}

struct job scene_job(struct scene *scene)
{
    struct job job = job_defaults();

    job.id = uuid_make(&scene->ids, NOW);
    job.type = "work";
    job.queue = scene->queue;
    return job;
}

struct enqueued scene_enqueue(struct scene *scene, struct job job, usec_t now)
{
    struct error err = {0};
    struct enqueued enqueued = {0};

    MUST(store_enqueue(scene->store, &job, 1, now, &enqueued, &err));
    return enqueued;
}

struct uuid scene_add(struct scene *scene)
{
    return scene_enqueue(scene, scene_job(scene), NOW).id;
}

void scene_add_many(struct scene *scene, size_t count, struct uuid *ids_out)
{
    struct error err = {0};
    AUTO_FREE struct job *jobs = calloc(count, sizeof *jobs);
    AUTO_FREE struct enqueued *enqueued = calloc(count, sizeof *enqueued);

    ck_assert(jobs && enqueued);
    for (size_t i = 0; i < count; i++)
        jobs[i] = scene_job(scene);
    MUST(store_enqueue(scene->store, jobs, count, NOW, enqueued, &err));
    for (size_t i = 0; i < count; i++)
        ids_out[i] = enqueued[i].id;
}

struct batch_token batch_fresh(void)
{
    struct batch_token batch;

    random_bytes(batch.bytes, sizeof batch.bytes);
    return batch;
}

struct reservation scene_wants(struct scene *scene, size_t max)
{
    scene->share = (struct queue_share){.queue = scene->queue, .max = max};
    return (struct reservation){
        .queues = &scene->share,
        .queue_count = 1,
        .pool = POOL,
        .batch = batch_fresh(),
        .lease_for = LEASE,
    };
}

void scene_reserve(struct scene *scene, const struct reservation *wanted, usec_t now,
                   struct job_list *jobs_out)
{
    struct error err = {0};

    MUST(store_reserve(scene->store, wanted, now, jobs_out, &err));
}

static struct claim take(struct scene *scene, const struct reservation *wanted, usec_t now)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};

    scene_reserve(scene, wanted, now, &jobs);
    ck_assert_msg(jobs.count == 1, "%zu jobs were there to reserve, not 1", jobs.count);
    return claim_of(scene, &jobs.items[0]);
}

struct claim scene_take(struct scene *scene, usec_t now)
{
    struct reservation wanted = scene_wants(scene, 1);

    return take(scene, &wanted, now);
}

struct claim scene_take_type(struct scene *scene, const char *type, usec_t now, usec_t lease_for)
{
    struct reservation wanted = scene_wants(scene, 1);

    wanted.types = &type;
    wanted.type_count = 1;
    wanted.lease_for = lease_for;
    return take(scene, &wanted, now);
}

struct claim scene_take_this(struct scene *scene, const struct uuid *id, usec_t now)
{
    struct claim claim = scene_take(scene, now);

    ck_assert_msg(uuid_compare(&claim.id, id) == 0, "another job was next");
    return claim;
}

void scene_take_nothing(struct scene *scene, usec_t now)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct reservation wanted = scene_wants(scene, 1);

    scene_reserve(scene, &wanted, now, &jobs);
    ck_assert_msg(jobs.count == 0, "a job was reserved that must not be");
}

struct claim claim_of(const struct scene *scene, const struct job *job)
{
    return (struct claim){
        .id = job->id,
        .queue = scene->queue,
        .token = job->token,
        .ref = job->ref,
        .executions = job->executions,
        .stalls = job->stalls,
        .expires_at = job->expires_at,
    };
}

struct settlement claim_settlement(const struct claim *claim, enum settlement_kind kind)
{
    struct settlement settlement = {
        .job = claim->id,
        .queue = claim->queue,
        .token = claim->token,
        .ref = claim->ref,
        .kind = kind,
        .run = {.pool = POOL, .exit_code = JOB_NO_EXIT_CODE},
    };

    if (kind == SETTLE_RETRY || kind == SETTLE_SNOOZE)
        settlement.run_at = LATER;
    if (kind == SETTLE_ASIDE) {
        settlement.aside = ASIDE_NO_HANDLER;
        settlement.aside_since = NOW;
    }
    if (kind == SETTLE_RETRY || kind == SETTLE_FAIL) {
        settlement.counts = true;
        settlement.error = "it broke";
    }
    if (kind == SETTLE_FAIL)
        settlement.reason = REASON_PERMANENT;
    return settlement;
}

enum th_error_code scene_settle(struct scene *scene, const struct settlement *settlement,
                                usec_t now)
{
    const struct settlement_list finished = {settlement, 1};
    enum th_error_code verdict = TH_E_INTERNAL;
    struct error err = {0};

    MUST(store_settle(scene->store, &finished, now, &verdict, &err));
    return verdict;
}

void scene_finish(struct scene *scene, const struct claim *claim, enum settlement_kind kind,
                  usec_t now)
{
    struct settlement settlement = claim_settlement(claim, kind);

    ASSERT_VERDICT(scene_settle(scene, &settlement, now), TH_OK);
}

size_t scene_promote(struct scene *scene, enum job_state state, usec_t now)
{
    struct error err = {0};
    size_t moved = 0;
    usec_t next_due = 0;

    MUST(store_promote(scene->store, state, now, MANY, &moved, &next_due, &err));
    return moved;
}

size_t scene_reclaim(struct scene *scene, usec_t now)
{
    struct error err = {0};
    size_t moved = 0;

    MUST(store_reclaim(scene->store, now, MANY, &moved, &err));
    return moved;
}

struct job_cursor scene_list(struct scene *scene, const struct job_filter *filter,
                             struct job_list *list)
{
    struct job_cursor next;
    struct error err = {0};

    MUST(store_list(scene->store, filter, list, &next, &err));
    return next;
}

enum th_error_code scene_cancel(struct scene *scene, const struct uuid *id, usec_t now)
{
    struct error err = {0};
    enum th_error_code verdict = TH_E_INTERNAL;

    MUST(store_cancel(scene->store, id, 1, now, &verdict, &err));
    return verdict;
}

enum th_error_code scene_run_now(struct scene *scene, const struct uuid *id, usec_t now)
{
    struct error err = {0};
    enum th_error_code verdict = TH_E_INTERNAL;

    MUST(store_run_now(scene->store, id, 1, now, &verdict, &err));
    return verdict;
}

enum th_error_code scene_requeue(struct scene *scene, const struct uuid *id, usec_t run_at,
                                 usec_t now)
{
    struct error err = {0};
    enum th_error_code verdict = TH_E_INTERNAL;

    MUST(store_requeue(scene->store, id, 1, run_at, now, &verdict, &err));
    return verdict;
}

enum th_error_code scene_remove(struct scene *scene, const struct uuid *id)
{
    struct error err = {0};
    enum th_error_code verdict = TH_E_INTERNAL;

    MUST(store_remove(scene->store, id, 1, &verdict, &err));
    return verdict;
}

const struct job *scene_get(struct scene *scene, const struct uuid *id, struct job_list *list)
{
    struct error err = {0};
    size_t before = list->count;

    MUST(store_get(scene->store, id, list, &err));
    ck_assert_uint_eq(list->count, before + 1);
    ASSERT_SAME_ID(&list->items[before].id, id);
    return &list->items[before];
}

enum job_state scene_state(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};

    return scene_get(scene, id, &list)->state;
}

bool scene_has(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    struct error err = {0};

    if (store_get(scene->store, id, &list, &err))
        return true;
    ASSERT_VERDICT(err.code, TH_E_NOT_FOUND);
    ck_assert_uint_eq(list.count, 0);
    return false;
}

size_t scene_count(struct scene *scene)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter all = {.queue = scene->queue, .limit = JOB_PAGE_MAX};
    struct error err = {0};
    struct job_cursor next;

    MUST(store_list(scene->store, &all, &list, &next, &err));
    ck_assert_msg(!next.is_set, "the scene has more than a page of jobs");
    return list.count;
}

struct queue_stats scene_stats(struct scene *scene)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};
    struct error err = {0};

    MUST(store_stats(scene->store, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
        struct queue_stats stats = list.items[i];
        if (strcmp(stats.queue, scene->queue) != 0)
            continue;
        stats.queue = scene->queue;
        return stats;
    }
    ck_abort_msg("the stats do not have the queue %s", scene->queue);
}
