/*
 * pool_json.h - a pool as JSON: what `thctl --json pools` and the HTTP API say of it.
 */
#ifndef CLIENT_POOL_JSON_H
#define CLIENT_POOL_JSON_H

#include "client/pool_status.h"
#include "store/store.h"

struct json_writer;

/* An object: what is known of it, and whatever else it said about itself with its last heartbeat.
 * `state` is "silent" or the pool's own word, or NULL. */
void pool_json_add(struct json_writer *json, const struct pool *pool,
                   const struct pool_status *status, const char *state);

#endif
