/*
 * command.h - a command as the server reads it, and what became of it.
 */
#ifndef REDIS_COMMAND_H
#define REDIS_COMMAND_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/uuid.h"
#include "store/redis/net/script.h"

#include <hiredis/hiredis.h>

struct redis;

struct redis_command {
    struct buffer words; /* owned */
    size_t argc;
    int slot;                 /* of its keys, or REDIS_ANY_SLOT */
    bool writes;              /* when no answer comes, it may have been carried out */
    enum redis_script script; /* SCRIPTS: it is none */
    size_t keys_at, keys_end; /* its keys among the words */
    size_t key_count;
    bool loads;                 /* the script is to be loaded first */
    bool mends, mended;         /* keys of a wrong type are to be set aside first; they have been */
    size_t asks;                /* the node to be asked this time, or REDIS_NO_NODE */
    redisReply *reply;          /* owned; NULL: not answered yet */
    enum th_error_code outcome; /* of redis_run_parts(): TH_OK, TH_E_UNAVAILABLE, TH_E_UNCERTAIN */
};

void redis_command_bytes(struct redis_command *command, const void *data, size_t length);
void redis_command_text(struct redis_command *command, const char *text);
void redis_command_int(struct redis_command *command, int64_t number);
void redis_command_moment(struct redis_command *command, usec_t moment); /* 18 digits */
void redis_command_uuid(struct redis_command *command, const struct uuid *id);

/* Its first two words: now, and whether the server is to agree that a lease is over (over_at() of
 * scripts/parts/base.lua). */
void redis_command_now(const struct redis *redis, struct redis_command *command, usec_t now);

#endif
