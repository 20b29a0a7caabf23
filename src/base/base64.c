/*
 * base64.c - bytes as text, standard alphabet with padding (RFC 4648, section 4).
 *
 * Three bytes are four characters. What is left over at the end is padded with zero bits and '='.
 */
#include "base/base64.h"

#include "base/arena.h"
#include "base/buffer.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* One to three bytes to four characters. */
static void encode_group(const unsigned char *bytes, size_t count, char *text)
{
    const unsigned first = bytes[0];
    const unsigned second = count > 1 ? bytes[1] : 0;
    const unsigned third = count > 2 ? bytes[2] : 0;
    const unsigned bits = first << 16 | second << 8 | third;

    text[0] = alphabet[bits >> 18];
    text[1] = alphabet[bits >> 12 & 63];
    text[2] = '=';
    text[3] = '=';
    if (count > 1)
        text[2] = alphabet[bits >> 6 & 63];
    if (count > 2)
        text[3] = alphabet[bits & 63];
}

void base64_add(struct buffer *buffer, struct bytes bytes)
{
    const size_t length = (bytes.length + 2) / 3 * 4;
    char *text = buffer_reserve(buffer, length);

    if (!text)
        return;
    for (size_t i = 0; i < bytes.length; i += 3) {
        encode_group(bytes.data + i, bytes.length - i, text);
        text += 4;
    }
    buffer->length += length;
}

/* The place of `c` in the alphabet, or -1. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* Four characters, of which the last `padding` are '=', to three bytes less the padding. */
static bool decode_group(const char *text, size_t padding, unsigned char *bytes)
{
    unsigned bits = 0;

    for (size_t i = 0; i < 4; i++) {
        const int value = i < 4 - padding ? value_of(text[i]) : 0;

        if (value < 0)
            return false;
        bits = bits << 6 | (unsigned)value;
    }
    if (bits & ((1U << (8 * padding)) - 1))
        return false;
    for (size_t i = 0; i < 3 - padding; i++)
        bytes[i] = (unsigned char)(bits >> (16 - 8 * i));
    return true;
}

static size_t padding_of(const char *text, size_t length)
{
    if (length == 0 || text[length - 1] != '=')
        return 0;
    return text[length - 2] == '=' ? 2 : 1;
}

bool base64_parse(const char *text, struct arena *arena, struct bytes *bytes_out)
{
    const size_t length = strlen(text);
    if (length % 4 != 0)
        return false;

    const size_t padding = padding_of(text, length);
    unsigned char *bytes = arena_alloc(arena, length / 4 * 3 + 1);
    if (!bytes)
        return false;
    for (size_t i = 0; i < length / 4; i++) {
        const bool is_last = 4 * i + 4 == length;

        if (!decode_group(text + 4 * i, is_last ? padding : 0, bytes + 3 * i))
            return false;
    }
    *bytes_out = (struct bytes){bytes, length / 4 * 3 - padding};
    return true;
}
