/*
 * names.h - a set of names, in order.
 */
#ifndef REDIS_NAMES_H
#define REDIS_NAMES_H

#include "base/base.h"

struct redis_names {
    char **items; /* owned, each and all */
    size_t count;
    size_t capacity;
};

bool redis_names_have(const struct redis_names *names, const char *name);

/* False when out of memory. What is there already stays as it is. */
bool redis_names_add(struct redis_names *names, const char *name) MUST_CHECK;
void redis_names_done(struct redis_names *names);

#endif
