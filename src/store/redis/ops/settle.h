/*
 * settle.h - a settlement as the three words that the scripts read: scripts/parts/settle.lua.
 */
#ifndef REDIS_SETTLE_H
#define REDIS_SETTLE_H

#include "base/base.h"
#include "base/buffer.h"
#include "store/redis/net/command.h"
#include "store/redis/net/connection.h"

/* `scratch` is emptied first; its memory serves the next one. */
void redis_settle_words(const struct redis *redis, struct redis_command *command,
                        const struct settlement *settlement, usec_t now, struct buffer *scratch);

#endif
