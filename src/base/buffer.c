/*
 * buffer.c - bytes that grow, up to a limit.
 *
 * Invariants:
 *   - What does not fit is not added at all: the bytes there are always whole additions.
 *   - capacity is at most limit + 1, the one being the NUL's.
 *   - data[length] is NUL, and so is every byte of a reservation that the caller left alone.
 */
#include "base/buffer.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY ((size_t)128)

/* No object is larger; below it, sizes may be added and doubled without overflow. */
#define SIZE_LIMIT (SIZE_MAX / 4)

static bool fail(struct buffer *buffer, bool too_long)
{
    buffer->failed = true;
    buffer->too_long = too_long;
    return false;
}

static size_t grown_capacity(const struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : FIRST_CAPACITY;

    while (capacity < needed)
        capacity *= 2;
    return capacity - 1 > buffer->limit ? buffer->limit + 1 : capacity;
}

/* Room for `length` more bytes and the NUL after them. */
static bool make_room(struct buffer *buffer, size_t length)
{
    if (buffer->failed)
        return false;
    if (length > buffer->limit - buffer->length)
        return fail(buffer, true);
    if (length > SIZE_LIMIT)
        return fail(buffer, false);
    if (buffer->capacity > buffer->length + length)
        return true;

    const size_t capacity = grown_capacity(buffer, buffer->length + length + 1);
    char *data = realloc(buffer->data, capacity);
    if (!data)
        return fail(buffer, false);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void buffer_add(struct buffer *buffer, const void *data, size_t length)
{
    if (length == 0 || !make_room(buffer, length))
        return;
    memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_char(struct buffer *buffer, char c)
{
    buffer_add(buffer, &c, 1);
}

/* Into the room that there is. Returns the length it needs, whether there was room or not. */
static size_t print(struct buffer *buffer, const char *format, va_list arguments)
{
    const size_t room = buffer->capacity - buffer->length;
    char *end = buffer->data ? buffer->data + buffer->length : NULL;
    const int length = vsnprintf(end, room, format, arguments);

    /* Negative: longer than INT_MAX. */
    return length < 0 ? SIZE_MAX : (size_t)length;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;

    if (buffer->failed)
        return;
    va_start(arguments, format);
    const size_t length = print(buffer, format, arguments);
    va_end(arguments);

    if (length >= buffer->capacity - buffer->length) {
        if (!make_room(buffer, length)) {
            if (buffer->data)
                buffer->data[buffer->length] = '\0';
            return;
        }
        va_start(arguments, format);
        print(buffer, format, arguments);
        va_end(arguments);
    }
    buffer->length += length;
}

void buffer_shell_word(struct buffer *buffer, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_.:-/,=@%+";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        buffer_text(buffer, word);
        return;
    }
    buffer_char(buffer, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            buffer_text(buffer, "'\\''");
        else
            buffer_char(buffer, *word);
    }
    buffer_char(buffer, '\'');
}

char *buffer_reserve(struct buffer *buffer, size_t length)
{
    if (!make_room(buffer, length))
        return NULL;
    return memset(buffer->data + buffer->length, 0, length + 1);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
    buffer->too_long = false;
    if (buffer->data)
        buffer->data[0] = '\0';
}

bool buffer_ok(const struct buffer *buffer, struct error *err)
{
    if (!buffer->failed)
        return true;
    if (!buffer->too_long)
        return error_no_memory(err);
    return error_set(err, TH_E_INVALID, "longer than %zu bytes", buffer->limit);
}

const char *buffer_str(const struct buffer *buffer)
{
    return buffer->data ? buffer->data : "";
}

void buffer_done(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer)BUFFER(buffer->limit);
}
