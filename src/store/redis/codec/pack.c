/*
 * pack.c - MessagePack: arrays of 16 bits, strings of 32 bits, nil.
 */
#include "store/redis/codec/pack.h"

#include <stdio.h>
#include <string.h>

enum format {
    FORMAT_NIL = 0xc0,
    FORMAT_STR_32 = 0xdb,
    FORMAT_ARRAY_16 = 0xdc,
};

static void add_byte(struct buffer *out, unsigned byte)
{
    buffer_char(out, (char)(byte & 0xff));
}

void redis_pack_list(struct buffer *out, uint16_t count)
{
    add_byte(out, FORMAT_ARRAY_16);
    add_byte(out, count >> 8);
    add_byte(out, count);
}

void redis_pack_nothing(struct buffer *out)
{
    add_byte(out, FORMAT_NIL);
}

void redis_pack_bytes(struct buffer *out, const void *data, size_t length)
{
    add_byte(out, FORMAT_STR_32);
    for (int shift = 24; shift >= 0; shift -= 8)
        add_byte(out, (unsigned)(length >> shift));
    if (length > 0)
        buffer_add(out, data, length);
}

void redis_pack_text(struct buffer *out, const char *text)
{
    if (!text)
        redis_pack_nothing(out);
    else
        redis_pack_bytes(out, text, strlen(text));
}

void redis_pack_int(struct buffer *out, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, number);

    redis_pack_bytes(out, text, (size_t)length);
}
