/*
 * word.c - words of the protocol, and numbers in records.
 *
 * Numbers are written by hand: they are most of what a batch of a thousand jobs consists of.
 */
#include "store/redis/net/word.h"

#include <string.h>

#define DIGITS 24

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

void redis_word_bytes(struct buffer *out, const void *data, size_t length)
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
    redis_word_bytes(out, text, strlen(text));
}

void redis_word_int(struct buffer *out, int64_t number)
{
    struct digits digits;

    write_digits(&digits, number);
    redis_word_bytes(out, digits.text + digits.start, DIGITS - digits.start);
}

void redis_word_number(struct buffer *out, int64_t number)
{
    struct digits digits;

    write_digits(&digits, number);
    add_digits(out, &digits);
    buffer_char(out, ' ');
}

void redis_word_moment(struct buffer *out, usec_t moment)
{
    static const char zeros[] = "000000000000000000";
    struct digits digits;

    write_digits(&digits, moment);
    size_t length = DIGITS - digits.start;
    if (length < REDIS_MOMENT_DIGITS)
        buffer_add(out, zeros, REDIS_MOMENT_DIGITS - length);
    add_digits(out, &digits);
}
