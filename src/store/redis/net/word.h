/*
 * word.h - words of the protocol, and numbers as records have them, into any buffer.
 */
#ifndef REDIS_WORD_H
#define REDIS_WORD_H

#include "base/base.h"
#include "base/buffer.h"

void redis_word_bytes(struct buffer *out, const void *data, size_t length);
void redis_word_text(struct buffer *out, const char *text);
void redis_word_int(struct buffer *out, int64_t number);

/* In a record: a number with a space after it, and a moment as text that sorts. */
#define REDIS_MOMENT_DIGITS 18
void redis_word_number(struct buffer *out, int64_t number);
void redis_word_moment(struct buffer *out, usec_t moment);

#endif
