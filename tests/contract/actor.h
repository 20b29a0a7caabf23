/*
 * actor.h - one process of the model: how it chooses, and what it knows of the store.
 *
 * It knows little for certain, since others change the store as well. But a lease that nobody's
 * clock has come to the end of is its own, whatever the others do.
 */
#ifndef TESTS_CONTRACT_ACTOR_H
#define TESTS_CONTRACT_ACTOR_H

#include "scene.h"

#define HELD_MAX  64
#define KNOWN_MAX 64
#define QUEUES    2

/* A lease that it was given. */
struct hold {
    struct uuid job;
    size_t queue; /* by its number */
    struct lease_token token;
    int64_t ref;
    usec_t expires_at;
    bool is_cancelled; /* its job was asked to end */
};

struct actor {
    struct store *store;
    uint64_t seed;
    uint64_t state; /* of its random numbers */
    struct uuid_maker ids;
    usec_t now;
    bool is_alone;              /* nobody else uses the store */
    size_t out;                 /* trades whose answers have not come */
    struct hold held[HELD_MAX]; /* not settled yet, as far as it knows */
    size_t held_count;
    struct uuid known[KNOWN_MAX];
    size_t known_count;
    int64_t done[QUEUES]; /* how many jobs it has acknowledged */
    char queues[QUEUES][JOB_NAME_MAX + 1];
    int report_fd; /* -1: nobody wants to know which jobs were accepted */
};

struct actor actor_make(const struct scene *scene, uint64_t seed, unsigned number);

/* Ends the process with the rule that is broken, and the seed, unless `holds`. */
void actor_must(const struct actor *actor, bool holds, const char *rule);

/* 0 to below - 1; and whether it was one in so many. */
unsigned actor_pick(struct actor *actor, unsigned below);
bool actor_by_chance(struct actor *actor, unsigned in);

/* A job that it has enqueued, or holds. */
struct uuid actor_pick_job(struct actor *actor);

void actor_remember(struct actor *actor, const struct enqueued *enqueued);

void actor_hold(struct actor *actor, const struct hold *hold);

/* The last one takes its place. */
struct hold actor_let_go(struct actor *actor, size_t at);

/* ---- time ---- */

/* The furthest clock of all processes that are forked from now on; they share it. */
void actor_share_time(void);
void actor_note_time(usec_t now);
usec_t actor_latest(void);

/* Whether nobody can have taken it away, by any clock. */
bool actor_is_sure_of(const struct hold *hold);

#endif
