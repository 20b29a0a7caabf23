/*
 * schema.h - the version of the layout, PREFIX:schema.
 *
 * Scripts need no version of their own: they are called by the hash of their text, so every binary
 * runs its own. What binaries of different age share is the layout, and that is guarded.
 */
#ifndef REDIS_SCHEMA_H
#define REDIS_SCHEMA_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/connection.h"

/* After the prefix; it also has what publish was told. */
#define REDIS_SCHEMA_KEY "schema"

bool redis_schema_read(struct redis *redis, struct store_schema *schema_out,
                       struct error *err) MUST_CHECK;

/* Makes it if there is none and that is wanted; refuses what this binary cannot use. */
bool redis_schema_prepare(struct redis *redis, const struct store_options *options,
                          struct error *err) MUST_CHECK;

#endif
