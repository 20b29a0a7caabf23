/*
 * ahead.h - batches that are sent before those that went before them are answered.
 *
 *   redis_ahead_send() --> redis->ahead, oldest first --the replies come--> redis_ahead_end()
 *
 * For one server only, which carries them out in the order of sending: not for a cluster.
 *
 * Invariant: a reply is taken for the oldest command that has none. So whatever else is said to the
 * server hears all of these out first (redis_ahead_hear(), from redis_run() and the bell).
 */
#ifndef REDIS_AHEAD_H
#define REDIS_AHEAD_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/batch.h"

struct redis;

/* Sends all of the batch, and takes in what replies there are meanwhile. It stays where it is until
 * its end. When this fails nothing of it is answered any more. */
bool redis_ahead_send(struct redis *redis, struct redis_batch *batch, struct error *err) MUST_CHECK;

/* Waits for the replies to the oldest batch. What the server refused to do, because it does not
 * know the script or for any other reason, is asked again as redis_run_parts() or redis_run() asks.
 * When it fails with TH_E_UNCERTAIN anything of it may have been carried out. */
bool redis_ahead_end(struct redis *redis, struct redis_batch *batch, bool in_parts,
                     struct error *err) MUST_CHECK;

/* Waits for all replies, and keeps them for whoever ends these batches. */
void redis_ahead_hear(struct redis *redis);

/* Readable when there is more of the oldest batch to hear; -1: nothing more will come. */
int redis_ahead_fd(const struct redis *redis, const struct redis_batch *batch);

/* Nobody will end them. */
void redis_ahead_forget(struct redis *redis);

#endif
