/*
 * command.c - one command: its words, one after the other.
 */
#include "store/redis/net/command.h"

#include "store/redis/net/connection.h"
#include "store/redis/net/word.h"

#include <string.h>

void redis_command_bytes(struct redis_command *command, const void *data, size_t length)
{
    redis_word_bytes(&command->words, data, length);
    command->argc++;
}

void redis_command_text(struct redis_command *command, const char *text)
{
    redis_command_bytes(command, text, strlen(text));
}

void redis_command_int(struct redis_command *command, int64_t number)
{
    redis_word_int(&command->words, number);
    command->argc++;
}

void redis_command_moment(struct redis_command *command, usec_t moment)
{
    buffer_text(&command->words, "$18\r\n");
    redis_word_moment(&command->words, moment);
    buffer_text(&command->words, "\r\n");
    command->argc++;
}

void redis_command_uuid(struct redis_command *command, const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    redis_command_bytes(command, uuid_format(id, text), UUID_TEXT_SIZE - 1);
}

/* The clocks of a cluster's nodes differ, and what is followed is that of one of them. */
void redis_command_now(const struct redis *redis, struct redis_command *command, usec_t now)
{
    const bool is_clocked = redis->base.is_clocked && !redis->slot_nodes;

    redis_command_moment(command, now);
    redis_command_int(command, is_clocked ? 1 : 0);
}
