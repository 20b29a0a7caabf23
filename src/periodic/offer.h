/*
 * offer.h - what a pool offers, as JSON for people: how often it beats, the queues that it serves,
 * with their limits, and the handlers that it has.
 *
 *     "heartbeat_ms":5000,
 *     "queues":[{"name":"mail","weight":3,"max_running":10,"rate":"100/s"}, ...],
 *     "handlers":[{"pattern":"email:*","kind":"command","max_attempts":4,"timeout_ms":30000}, ...]
 *
 * A limit that is not set is null. Attempts and timeout are those of a job that says nothing
 * itself.
 */
#ifndef PERIODIC_OFFER_H
#define PERIODIC_OFFER_H

#include "base/base.h"

struct config;
struct json_writer;

/* How long it can get. */
size_t offer_limit(const struct config *config);

/* Three members of the object that is being written. */
void offer_write(const struct config *config, struct json_writer *json);

#endif
