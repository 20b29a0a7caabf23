/*
 * bring.c - a job of its own, brought into the state that a case starts from.
 */
#include "bring.h"

#include "base/random.h"

#include <stdio.h>

static void name_it(struct brought *brought)
{
    uint32_t number;

    random_bytes(&number, sizeof number);
    snprintf(brought->type, sizeof brought->type, "type-%08x", number);
    snprintf(brought->key, sizeof brought->key, "key-%08x", number);
}

static struct uuid store_one(struct scene *scene, const struct brought *brought, usec_t run_at)
{
    struct job job = bring_twin(scene, brought);

    job.run_at = run_at;
    struct enqueued enqueued = scene_enqueue(scene, job, NOW);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    return enqueued.id;
}

static void store_and_take(struct scene *scene, struct brought *brought)
{
    brought->id = store_one(scene, brought, 0);
    brought->claim = scene_take_type(scene, brought->type, NOW, LEASE);
}

static void store_and_settle(struct scene *scene, struct brought *brought,
                             enum settlement_kind kind)
{
    store_and_take(scene, brought);
    scene_finish(scene, &brought->claim, kind, NOW);
}

static void store_behind_its_twin(struct scene *scene, struct brought *brought)
{
    store_one(scene, brought, 0);
    brought->twin = scene_take_type(scene, brought->type, NOW, USEC_PER_DAY);
    brought->id = store_one(scene, brought, 0);
}

static void store_and_cancel(struct scene *scene, struct brought *brought)
{
    store_and_take(scene, brought);
    ASSERT_VERDICT(scene_cancel(scene, &brought->id, NOW), TH_OK);
    scene_finish(scene, &brought->claim, SETTLE_CANCEL, NOW);
}

struct job bring_twin(struct scene *scene, const struct brought *brought)
{
    struct job job = scene_job(scene);

    job.type = brought->type;
    job.key = brought->key;
    return job;
}

struct brought bring(struct scene *scene, enum job_state state)
{
    struct brought brought = {.state = state};

    name_it(&brought);
    switch (state) {
    case JOB_SCHEDULED:
        brought.id = store_one(scene, &brought, LATER);
        break;
    case JOB_READY:
        brought.id = store_one(scene, &brought, 0);
        break;
    case JOB_BLOCKED:
        store_behind_its_twin(scene, &brought);
        break;
    case JOB_RUNNING:
        store_and_take(scene, &brought);
        break;
    case JOB_RETRY:
        store_and_settle(scene, &brought, SETTLE_RETRY);
        break;
    case JOB_DONE:
        store_and_settle(scene, &brought, SETTLE_ACK);
        break;
    case JOB_DEAD:
        store_and_settle(scene, &brought, SETTLE_FAIL);
        break;
    case JOB_CANCELLED:
        store_and_cancel(scene, &brought);
        break;
    }
    ASSERT_STATE(scene, &brought.id, state);
    return brought;
}
