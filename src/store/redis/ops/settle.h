/*
 * settle.h - settlements as the words that the scripts read: scripts/parts/settle.lua.
 */
#ifndef REDIS_SETTLE_H
#define REDIS_SETTLE_H

#include "base/base.h"
#include "base/buffer.h"
#include "store/redis/net/command.h"
#include "store/redis/net/connection.h"

/* Those of one queue, which have these numbers among all. The numbers are put into the order in
 * which the script answers; one job's settlements stay in theirs. */
void redis_settle_words(const struct redis *redis, struct redis_command *command,
                        const struct settlement *settlements, size_t *numbers, size_t count,
                        usec_t now);

#endif
