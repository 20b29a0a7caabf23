/*
 * run.h - a batch of commands to its replies.
 *
 *   an operation --commands--> struct redis_batch --redis_run()--> replies
 *                                                    |
 *                              class.h: load a script, follow a slot, repeat, give up
 */
#ifndef REDIS_RUN_H
#define REDIS_RUN_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/batch.h"
#include "store/redis/net/connection.h"

/* Sends all of them and waits for all replies, which stay in the commands. When it fails the code
 * is TH_E_UNCERTAIN if anything may have been changed. */
bool redis_run(struct redis *redis, struct redis_batch *batch, struct error *err) MUST_CHECK;

/* The same for commands that have nothing to do with each other: a script that fails over what it
 * finds, and in a cluster a node that is down or a slot on the move, is the `outcome` of its
 * commands, which have no reply then, and holds up no other. It fails when no node answers. */
bool redis_run_parts(struct redis *redis, struct redis_batch *batch, struct error *err) MUST_CHECK;

/* False, with the reason, when not one of them has a reply: for callers to whom that is a failure.
 */
bool redis_run_worked(const struct redis_batch *batch, struct error *err) MUST_CHECK;

#endif
