/*
 * scene.h - a store of its own with some jobs in it, and the config of the pool that works on it.
 *
 * Everything here asserts that the store did what it was asked to.
 */
#ifndef TESTS_UNIT_PERIODIC_SCENE_H
#define TESTS_UNIT_PERIODIC_SCENE_H

#include "config/config.h"
#include "store/store.h"

#include <check.h>

#define QUEUE "default"
#define POOL  "pool-1.abc"
#define LEASE (30 * USEC_PER_SEC)

/* `err` is the caller's struct error. */
#define MUST(call) ck_assert_msg(call, "%s", err.text)

struct scene {
    struct store *store;
    struct config config; /* the defaults, as far as they matter here */
    struct uuid_maker ids;
};

struct scene scene_open(void);
void scene_close(struct scene *scene);

/* The database's clock. */
usec_t scene_now(const struct scene *scene);

/* A job that was enqueued at `now`, for `run_at` or at once if that is 0. */
struct uuid scene_add(struct scene *scene, usec_t run_at, usec_t now);

/* The next job of the queue, reserved by POOL at `now`. */
const struct job *scene_take(struct scene *scene, usec_t lease_for, usec_t now,
                             struct job_list *list);

void scene_settle(struct scene *scene, const struct job *job, enum settlement_kind kind,
                  usec_t run_at, usec_t now);

const struct job *scene_get(struct scene *scene, const struct uuid *id, struct job_list *list);
const char *scene_state(struct scene *scene, const struct uuid *id);
bool scene_has(struct scene *scene, const struct uuid *id);

void scene_register(struct scene *scene, const char *pool, const char *status, usec_t now);

/* NULL when there is none of that name; as `list` holds it. */
const struct pool *scene_pool(struct scene *scene, const char *name, struct pool_list *list);

#endif
