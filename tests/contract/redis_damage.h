/*
 * redis_damage.h - the table of what can be damaged in Redis.
 */
#ifndef TESTS_CONTRACT_REDIS_DAMAGE_H
#define TESTS_CONTRACT_REDIS_DAMAGE_H

#include "backends.h"

/* NULL after the last. Valid until the next call. */
const struct damage *redis_damage(size_t number);

#endif
