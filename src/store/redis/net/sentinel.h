/*
 * sentinel.h - Redis Sentinel: who is the master now.
 */
#ifndef REDIS_SENTINEL_H
#define REDIS_SENTINEL_H

#include "base/base.h"
#include "base/error.h"

struct redis;
struct redis_link;

/* Asks the sentinels, connects to the master that they name, and sees that it knows of it. */
bool redis_sentinel_open(struct redis *redis, struct redis_link *link,
                         struct error *err) MUST_CHECK;

#endif
