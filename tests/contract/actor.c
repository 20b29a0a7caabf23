/*
 * actor.c - one process of the model: how it chooses, and what it knows of the store.
 */
#include "actor.h"

#include "base/io.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

struct actor actor_make(const struct scene *scene, uint64_t seed, unsigned number)
{
    struct actor actor = {.seed = seed,
                          .state = (seed + number + 1) * 0x9e3779b97f4a7c15,
                          .now = NOW,
                          .report_fd = -1};

    for (size_t i = 0; i < QUEUES; i++)
        snprintf(actor.queues[i], sizeof actor.queues[i], "%.100s-%zu", scene->queue, i);
    return actor;
}

void actor_must(const struct actor *actor, bool holds, const char *rule)
{
    struct error err = {0};

    if (!holds)
        child_must(
            error_set(&err, TH_E_INTERNAL, "%s, seed %llu", rule, (unsigned long long)actor->seed),
            &err);
}

/* xorshift: the same everywhere for the same seed. */
unsigned actor_pick(struct actor *actor, unsigned below)
{
    actor->state ^= actor->state << 13;
    actor->state ^= actor->state >> 7;
    actor->state ^= actor->state << 17;
    return (unsigned)(actor->state >> 33) % below;
}

bool actor_by_chance(struct actor *actor, unsigned in)
{
    return actor_pick(actor, in) == 0;
}

struct uuid actor_pick_job(struct actor *actor)
{
    if (actor->held_count > 0 && actor_by_chance(actor, 2))
        return actor->held[actor_pick(actor, (unsigned)actor->held_count)].job;
    return actor
        ->known[actor_pick(actor, actor->known_count > 0 ? (unsigned)actor->known_count : 1)];
}

void actor_remember(struct actor *actor, const struct enqueued *enqueued)
{
    size_t at =
        actor->known_count < KNOWN_MAX ? actor->known_count++ : actor_pick(actor, KNOWN_MAX);
    struct error err = {0};

    actor->known[at] = enqueued->id;
    if (actor->report_fd >= 0 && !enqueued->existed && !enqueued->updated)
        child_must(io_write_all(actor->report_fd, &enqueued->id, sizeof enqueued->id, &err), &err);
}

void actor_hold(struct actor *actor, const struct hold *hold)
{
    actor_must(actor, actor->held_count < HELD_MAX, "more was given than asked for");
    actor->held[actor->held_count++] = *hold;
}

struct hold actor_let_go(struct actor *actor, size_t at)
{
    const struct hold hold = actor->held[at];

    actor->held[at] = actor->held[--actor->held_count];
    return hold;
}

/* ---- time ---- */

static _Atomic usec_t *latest;

void actor_share_time(void)
{
    latest = mmap(NULL, sizeof *latest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(latest != MAP_FAILED);
    *latest = NOW;
}

void actor_note_time(usec_t now)
{
    usec_t seen = *latest;

    while (seen < now && !atomic_compare_exchange_weak(latest, &seen, now))
        continue;
}

usec_t actor_latest(void)
{
    return *latest;
}

bool actor_is_sure_of(const struct hold *hold)
{
    return hold->expires_at > *latest;
}
