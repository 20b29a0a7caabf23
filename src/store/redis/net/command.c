/*
 * command.c - words of the protocol.
 *
 * Numbers are written by hand: they are most of what a batch of a thousand jobs consists of.
 */
#include "store/redis/net/command.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX ((size_t)1 << 30)
#define DIGITS    24

/* A number as text; the digits are at the end of `text`. */
struct digits {
    char text[DIGITS];
    size_t start;
};

static void write_digits(struct digits *digits, int64_t number)
{
    uint64_t rest = number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number;

    digits->start = DIGITS;
    do {
        digits->text[--digits->start] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digits->text[--digits->start] = '-';
}

static void add_digits(struct buffer *out, const struct digits *digits)
{
    buffer_add(out, digits->text + digits->start, DIGITS - digits->start);
}

void redis_word(struct buffer *out, const void *data, size_t length)
{
    struct digits digits;

    write_digits(&digits, (int64_t)length);
    buffer_char(out, '$');
    add_digits(out, &digits);
    buffer_add(out, "\r\n", 2);
    if (length > 0)
        buffer_add(out, data, length);
    buffer_add(out, "\r\n", 2);
}

void redis_word_text(struct buffer *out, const char *text)
{
    redis_word(out, text, strlen(text));
}

void redis_number(struct buffer *out, int64_t number)
{
    struct digits digits;

    write_digits(&digits, number);
    add_digits(out, &digits);
    buffer_char(out, ' ');
}

void redis_moment(struct buffer *out, usec_t moment)
{
    static const char zeros[] = "000000000000000000";
    struct digits digits;

    write_digits(&digits, moment);
    size_t length = DIGITS - digits.start;
    if (length < REDIS_MOMENT_DIGITS)
        buffer_add(out, zeros, REDIS_MOMENT_DIGITS - length);
    add_digits(out, &digits);
}

void redis_command_bytes(struct redis_command *command, const void *data, size_t length)
{
    redis_word(&command->words, data, length);
    command->argc++;
}

void redis_command_text(struct redis_command *command, const char *text)
{
    redis_command_bytes(command, text, strlen(text));
}

void redis_command_int(struct redis_command *command, int64_t number)
{
    struct digits digits;

    write_digits(&digits, number);
    redis_command_bytes(command, digits.text + digits.start, DIGITS - digits.start);
}

void redis_command_moment(struct redis_command *command, usec_t moment)
{
    buffer_text(&command->words, "$18\r\n");
    redis_moment(&command->words, moment);
    buffer_text(&command->words, "\r\n");
    command->argc++;
}

void redis_command_uuid(struct redis_command *command, const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    redis_command_bytes(command, uuid_format(id, text), UUID_TEXT_SIZE - 1);
}

struct redis_command *redis_batch_add(struct redis_batch *batch)
{
    size_t count = batch->count;

    /* Grows by doubling, at the powers of two. */
    if ((count & (count - 1)) == 0) {
        struct redis_command *items =
            realloc(batch->items, (count == 0 ? 1 : count * 2) * sizeof(*items));
        if (items == NULL)
            return NULL;
        batch->items = items;
    }
    batch->items[count] = (struct redis_command){
        .words = BUFFER(WORDS_MAX),
        .slot = REDIS_ANY_SLOT,
        .script = SCRIPTS,
        .asks = REDIS_NO_NODE,
    };
    batch->count++;
    return &batch->items[count];
}

void redis_batch_done(struct redis_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        buffer_done(&batch->items[i].words);
        if (batch->items[i].reply != NULL)
            freeReplyObject(batch->items[i].reply);
    }
    free(batch->items);
    *batch = (struct redis_batch){0};
}
