/*
 * recycling.h - a worker that has done its share, or has grown, ends; the master starts a fresh
 * one.
 */
#ifndef WORKER_RECYCLING_H
#define WORKER_RECYCLING_H

#include "base/base.h"

struct pool_config;

/* Logs why. */
bool recycling_is_due(const struct pool_config *pool, int64_t jobs_done);

#endif
