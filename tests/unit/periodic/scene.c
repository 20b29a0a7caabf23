/*
 * scene.c - a store of its own with some jobs in it, and the config of the pool that works on it.
 */
#include "periodic/scene.h"

#include "base/cleanup.h"
#include "base/random.h"
#include "base/text.h"

#include <string.h>

struct scene scene_open(void)
{
    const struct store_options options = {.migrate = true};
    struct scene scene = {
        .config.pool = {.heartbeat_interval = 5 * USEC_PER_SEC,
                        .reaper_interval = 30 * USEC_PER_SEC,
                        .stale_threshold = 60 * USEC_PER_SEC,
                        .lease = LEASE},
        .config.retention = {.done = USEC_PER_HOUR, .done_max = 1000, .dead = USEC_PER_DAY},
    };
    struct error err;

    MUST(store_open("memory:", &options, &scene.store, &err));
    return scene;
}

void scene_close(struct scene *scene)
{
    store_close(&scene->store);
}

usec_t scene_now(const struct scene *scene)
{
    return store_now(scene->store);
}

struct uuid scene_add(struct scene *scene, usec_t run_at, usec_t now)
{
    struct job job = job_defaults();
    struct enqueued enqueued;
    struct error err;

    job.id = uuid_make(&scene->ids, now);
    job.type = "test:type";
    job.run_at = run_at;
    MUST(store_enqueue(scene->store, &job, 1, now, &enqueued, &err));
    return job.id;
}

const struct job *scene_take(struct scene *scene, usec_t lease_for, usec_t now,
                             struct job_list *list)
{
    const struct queue_share share = {.queue = QUEUE, .max = 1};
    struct reservation wanted = {
        .queues = &share, .queue_count = 1, .pool = POOL, .lease_for = lease_for};
    struct error err;

    random_bytes(&wanted.batch, sizeof wanted.batch);
    MUST(store_reserve(scene->store, &wanted, now, list, &err));
    ck_assert_uint_gt(list->count, 0);
    return &list->items[list->count - 1];
}

void scene_settle(struct scene *scene, const struct job *job, enum settlement_kind kind,
                  usec_t run_at, usec_t now)
{
    struct settlement settlement = {
        .job = job->id, .queue = job->queue, .token = job->token, .kind = kind, .run_at = run_at};
    const struct settlement_list finished = {.items = &settlement, .count = 1};
    enum th_error_code verdict;
    struct error err;

    MUST(store_settle(scene->store, &finished, now, &verdict, &err));
    ck_assert_str_eq(error_code_name(verdict), error_code_name(TH_OK));
}

const struct job *scene_get(struct scene *scene, const struct uuid *id, struct job_list *list)
{
    struct error err;

    MUST(store_get(scene->store, id, list, &err));
    return &list->items[list->count - 1];
}

const char *scene_state(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};

    return job_state_name(scene_get(scene, id, &list)->state);
}

bool scene_has(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    struct error err;
    const bool found = store_get(scene->store, id, &list, &err);

    ck_assert(found || err.code == TH_E_NOT_FOUND);
    return found;
}

void scene_register(struct scene *scene, const char *pool, const char *status, usec_t now)
{
    const struct pool entry = {
        .name = pool,
        .host = "host",
        .pid = 1,
        .status = {(const unsigned char *)status, strlen(status)},
    };
    struct error err;

    MUST(store_pool_register(scene->store, &entry, now, &err));
}

const struct pool *scene_pool(struct scene *scene, const char *name, struct pool_list *list)
{
    struct error err;

    MUST(store_pools(scene->store, list, &err));
    for (size_t i = 0; i < list->count; i++) {
        if (text_equal(list->items[i].name, name))
            return &list->items[i];
    }
    return NULL;
}
