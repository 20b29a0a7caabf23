/*
 * reply.h - what a server answered. Somebody else may have written what it is made of.
 */
#ifndef REDIS_REPLY_H
#define REDIS_REPLY_H

#include "base/arena.h"
#include "base/base.h"
#include "base/cleanup.h"
#include "base/uuid.h"

#include <hiredis/hiredis.h>

#define REDIS_REPLY CLEANUP(redis_reply_free) redisReply *

int64_t redis_reply_int(const redisReply *reply); /* of a number or of its text; 0 otherwise */
struct bytes redis_reply_bytes(const redisReply *reply, struct arena *arena);
bool redis_reply_uuid(const redisReply *reply, struct uuid *id_out) MUST_CHECK;

void redis_reply_free(redisReply **reply);

#endif
