/*
 * operations.h - every operation of the driver, as something that can be measured in a town.
 *
 * An operation brings what it needs, does the one call that is measured, and takes away what it
 * brought. It answers how long the call took.
 */
#ifndef BENCH_SCALE_OPERATIONS_H
#define BENCH_SCALE_OPERATIONS_H

#include "bench/scale/town.h"

struct operation {
    const char *name;
    usec_t (*run)(struct town *town, int argument);
    int argument;
};

struct operation_list {
    const struct operation *items;
    size_t count;
};

extern const struct operation_list path_operations;   /* path.c: from enqueue to settle */
extern const struct operation_list upkeep_operations; /* upkeep.c: what the pool's others do */
extern const struct operation_list aside_operations;  /* asides.c: what nobody can run */
extern const struct operation_list people_operations; /* people.c: looking and repairing */
extern const struct operation_list list_operations;   /* lists.c: pages of every state */

#endif
