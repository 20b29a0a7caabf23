/*
 * greeting.h - what a person at a terminal reads when the pool is ready, and when it is to end.
 */
#ifndef MASTER_GREETING_H
#define MASTER_GREETING_H

#include "base/base.h"

struct this_pool;

/* Only where the log is one for people. */
void greeting_print(const struct this_pool *pool);

/* Before a drain: how many jobs it waits for, if any, and how to end at once. */
void greeting_print_drain(const struct this_pool *pool, size_t running);

#endif
