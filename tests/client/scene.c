/*
 * scene.c - what the tests of <taskharbor/client.h> play in: a client on a backend of its own.
 */
#include "scene.h"

#include "base/cleanup.h"
#include "base/random.h"
#include "store/store.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#define LEASE (30 * USEC_PER_SEC)

static void must(bool worked, const struct error *err)
{
    ck_assert_msg(worked, "%s: %s", error_code_name(err->code), err->text);
}

struct scene scene_make(int backend)
{
    struct scene scene = {.folder = "/tmp/th-client-XXXXXX"};

    ck_assert_ptr_nonnull(mkdtemp(scene.folder));
    if (backend == SCENE_SQLITE)
        snprintf(scene.url, sizeof scene.url, "sqlite:%s/jobs.db", scene.folder);
    else
        snprintf(scene.url, sizeof scene.url, "memory:");
    return scene;
}

struct scene scene_open(int backend)
{
    struct scene scene = scene_make(backend);

    scene_assert_worked(&scene, th_open(scene.url, NULL, &scene.client, &scene.failure));
    return scene;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void scene_done(struct scene *scene)
{
    th_close(scene->client);
    if (scene->folder[0] != '\0')
        nftw(scene->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scene_enqueue(struct scene *scene, const char *type)
{
    static struct th_receipt receipt;
    struct th_new_job job = TH_NEW_JOB(type);

    scene_assert_worked(scene, th_enqueue(scene->client, &job, &receipt, &scene->failure));
    return receipt.id;
}

struct th_job_info *scene_get(struct scene *scene, const char *id)
{
    struct th_job_info *job = NULL;

    scene_assert_worked(scene, th_get(scene->client, id, &job, &scene->failure));
    return job;
}

static struct store *open_beside(const struct scene *scene)
{
    const struct store_options options = {0};
    struct store *store = NULL;
    struct error err;

    must(store_open(scene->url, &options, &store, &err), &err);
    return store;
}

static void reserve_one(struct store *store, struct job_list *jobs_out)
{
    const struct queue_share share = {.queue = "default", .max = 1};
    struct reservation wanted = {
        .queues = &share, .queue_count = 1, .pool = "test.1", .lease_for = LEASE};
    struct error err;

    random_bytes(&wanted.batch, sizeof wanted.batch);
    must(store_reserve(store, &wanted, store_now(store), jobs_out, &err), &err);
    ck_assert_uint_eq(jobs_out->count, 1);
}

void scene_run_next(const struct scene *scene, enum settlement_kind kind, const char *error)
{
    CLEANUP(store_close) struct store *store = open_beside(scene);
    CLEANUP(job_list_done) struct job_list jobs = {0};
    enum th_error_code verdict;
    struct error err;

    reserve_one(store, &jobs);
    const struct job *job = &jobs.items[0];
    const struct settlement end = {
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = job->ref,
        .kind = kind,
        .counts = error != NULL,
        .error = error,
        .reason = error ? REASON_PERMANENT : REASON_NONE,
        .result = {(unsigned char *)"{}", error ? 0 : 2},
        .output = {(unsigned char *)"hello\n", 6},
        .has_run = true,
        .run = {.execution = job->executions,
                .pool = "test.1",
                .worker = 3,
                .started_at = store_now(store),
                .wall = 1500,
                .max_rss_kb = 2048,
                .outcome = settlement_run_outcome(kind),
                .exit_code = error ? 65 : 0,
                .error = error},
    };
    const struct settlement_list finished = {&end, 1};

    must(store_settle(store, &finished, store_now(store), &verdict, &err), &err);
    ck_assert_int_eq(verdict, TH_OK);
}

void scene_start_next(const struct scene *scene, int percent, const char *text)
{
    CLEANUP(store_close) struct store *store = open_beside(scene);
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct lease_answer answer;
    struct pool_answer told;
    struct error err;

    reserve_one(store, &jobs);
    const struct lease_beat beat = {
        .job = jobs.items[0].id,
        .queue = jobs.items[0].queue,
        .token = jobs.items[0].token,
        .ref = jobs.items[0].ref,
        .worker = 3,
        .progress_percent = percent,
        .progress_text = text,
    };
    const struct heartbeat heartbeat = {
        .pool = "test.1", .leases = &beat, .lease_count = 1, .lease_for = LEASE};

    must(store_heartbeat(store, &heartbeat, 1, store_now(store), &answer, &told, &err), &err);
    ck_assert_int_eq(answer.verdict, TH_OK);
}
