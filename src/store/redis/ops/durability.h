/*
 * durability.h - what the server's settings promise of the jobs that it has confirmed.
 */
#ifndef REDIS_DURABILITY_H
#define REDIS_DURABILITY_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/connection.h"

/* Refuses a server that throws keys away when its memory is full: those would be jobs. */
bool redis_durability_check(struct redis *redis, struct error *err) MUST_CHECK;

#endif
