/*
 * asides.h - jobs that are set aside, and what becomes of them: for the cases that are about them.
 */
#ifndef TESTS_CONTRACT_ASIDES_H
#define TESTS_CONTRACT_ASIDES_H

#include "scene.h"

#define AGES_AGO (NOW - 2 * USEC_PER_DAY)

struct uuid asides_add(struct scene *scene, const char *type, int priority, usec_t now);

/* A settlement that sets the job aside; one that cannot be started has an error. */
struct settlement asides_settlement(const struct claim *claim, enum job_aside why, usec_t since);
void asides_set(struct scene *scene, const struct claim *claim, enum job_aside why, usec_t since);

/* A job of this type that waits, aside. */
struct uuid asides_bring(struct scene *scene, const char *type, enum job_aside why, usec_t since);

/* Which types of the scene's queue are. */
void asides_look(struct scene *scene, struct aside_list *types);
struct aside_type asides_kind(const struct scene *scene, const char *type, enum job_aside why);

/* How many came back, and how many are dead. */
size_t asides_bring_back(struct scene *scene, const char *type, enum job_aside why, size_t limit);
size_t asides_give_up(struct scene *scene, const char *type, enum job_aside why, usec_t before);

#endif
