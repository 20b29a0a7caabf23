/*
 * asides.c - jobs that are set aside, and what becomes of them.
 */
#include "asides.h"

struct uuid asides_add(struct scene *scene, const char *type, int priority, usec_t now)
{
    struct job job = scene_job(scene);

    job.type = type;
    job.priority = priority;
    scene_enqueue(scene, job, now);
    return job.id;
}

struct settlement asides_settlement(const struct claim *claim, enum job_aside why, usec_t since)
{
    struct settlement settlement = claim_settlement(claim, SETTLE_ASIDE);

    settlement.aside = why;
    settlement.aside_since = since;
    if (why == ASIDE_CANNOT_START)
        settlement.error = "there is no such program";
    return settlement;
}

void asides_set(struct scene *scene, const struct claim *claim, enum job_aside why, usec_t since)
{
    struct settlement settlement = asides_settlement(claim, why, since);

    ASSERT_VERDICT(scene_settle(scene, &settlement, NOW), TH_OK);
}

/* A job of this type that waits, aside. */
struct uuid asides_bring(struct scene *scene, const char *type, enum job_aside why, usec_t since)
{
    struct uuid id = asides_add(scene, type, JOB_PRIORITY_DEFAULT, NOW);
    struct claim claim = scene_take_this(scene, &id, NOW);

    asides_set(scene, &claim, why, since);
    return id;
}

void asides_look(struct scene *scene, struct aside_list *types)
{
    const char *const queues[] = {scene->queue};
    struct error err = {0};

    MUST(store_aside(scene->store, queues, 1, types, &err));
}

struct aside_type asides_kind(const struct scene *scene, const char *type, enum job_aside why)
{
    return (struct aside_type){.queue = scene->queue, .type = type, .why = why};
}

size_t asides_bring_back(struct scene *scene, const char *type, enum job_aside why, size_t limit)
{
    const struct aside_type which = asides_kind(scene, type, why);
    struct error err = {0};
    size_t moved;

    MUST(store_bring_back(scene->store, &which, 0, limit, &moved, &err));
    return moved;
}

size_t asides_give_up(struct scene *scene, const char *type, enum job_aside why, usec_t before)
{
    const struct aside_type which = asides_kind(scene, type, why);
    struct error err = {0};
    size_t ended;

    MUST(store_give_up(scene->store, &which, before, NOW + 7, MANY, &ended, &err));
    return ended;
}
