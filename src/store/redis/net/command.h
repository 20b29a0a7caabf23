/*
 * command.h - commands as the server reads them, and the list of them that makes one round
 * trip.
 */
#ifndef REDIS_COMMAND_H
#define REDIS_COMMAND_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/uuid.h"

#include "redis_scripts.h"

#include <hiredis/hiredis.h>

#define REDIS_ANY_SLOT (-1)
#define REDIS_NO_NODE  SIZE_MAX

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

/* One round trip, or one to each node of a cluster. */
struct redis_batch {
    struct redis_command *items; /* owned */
    size_t count;
    struct error failure; /* of redis_run_parts(): the first; its code is TH_OK when all is well */
};

/* A command at the end; NULL when out of memory. The items move when the list grows. */
struct redis_command *redis_batch_add(struct redis_batch *batch) MUST_CHECK;
void redis_batch_done(struct redis_batch *batch);

void redis_command_bytes(struct redis_command *command, const void *data, size_t length);
void redis_command_text(struct redis_command *command, const char *text);
void redis_command_int(struct redis_command *command, int64_t number);
void redis_command_moment(struct redis_command *command, usec_t moment); /* 18 digits */
void redis_command_uuid(struct redis_command *command, const struct uuid *id);

/* One word of the protocol, into any buffer. */
void redis_word(struct buffer *out, const void *data, size_t length);
void redis_word_text(struct buffer *out, const char *text);

/* Number as text with a space behind it, as records have them. */
void redis_number(struct buffer *out, int64_t number);

/* A moment as text that sorts. */
#define REDIS_MOMENT_DIGITS 18
void redis_moment(struct buffer *out, usec_t moment);

#endif
