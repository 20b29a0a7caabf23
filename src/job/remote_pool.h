/*
 * remote_pool.h - the names of the pools that remote workers are.
 */
#ifndef JOB_REMOTE_POOL_H
#define JOB_REMOTE_POOL_H

#include "base/base.h"

/* Before the name that a worker gives itself at that door. */
#define REMOTE_POOL_HTTP    "http."
#define REMOTE_POOL_FAKTORY "faktory."

/* Such a pool comes and goes as its worker likes: that it is silent is no news. */
bool remote_pool_is(const char *name);

#endif
