/*
 * pool_name.h - what a pool is called.
 *
 * People and the log know it as NAME: what the config says, or HOST-PID. The store knows it as
 * NAME.RANDOM, new at each start, so that what a former pool of the same name left behind is never
 * taken for ours.
 */
#ifndef MASTER_POOL_NAME_H
#define MASTER_POOL_NAME_H

#include "base/base.h"

#define POOL_NAME_MAX  128 /* like every name that a store keeps */
#define POOL_NAME_SIZE (POOL_NAME_MAX + 1)

struct pool_name {
    char shown[POOL_NAME_SIZE];
    char stored[POOL_NAME_SIZE];
};

/* `configured` is pool.pool_id; "auto" asks for HOST-PID. Characters that no name may have become
 * '-', and what is too long is cut, so that `stored` is always valid. */
struct pool_name pool_name_make(const char *configured, const char *host, int64_t pid,
                                uint32_t random);

#endif
