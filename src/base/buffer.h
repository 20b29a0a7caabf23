/*
 * buffer.h - bytes that grow, up to a limit.
 *
 * A buffer remembers its first failure (over the limit, out of memory) and ignores what comes
 * after it, so one buffer_ok() at the end is enough. `data` always ends in a NUL that `length`
 * does not count.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "base/base.h"

#include <stdarg.h>

struct error;

struct buffer {
    char *data; /* owned; NULL until something is added */
    size_t length;
    size_t capacity;
    size_t limit; /* of length; set at birth */
    bool failed;
    bool too_long; /* the failure was the limit, not the memory */
};

/* struct buffer line = BUFFER(64 * 1024); */
#define BUFFER(max_length)                                                                         \
    {                                                                                              \
        .limit = (max_length)                                                                      \
    }

void buffer_add(struct buffer *buffer, const void *data, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_char(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);

/* As one word of a shell: in quotes where it needs them. */
void buffer_shell_word(struct buffer *buffer, const char *word);

/* Room for `length` more bytes, zeroed, that the caller writes itself and then adds to `length`;
 * NULL after a failure. */
char *buffer_reserve(struct buffer *buffer, size_t length) MUST_CHECK;

/* Empty, without failure, memory kept for the next use. */
void buffer_clear(struct buffer *buffer);

/* False with TH_E_INVALID ("longer than N bytes") or TH_E_NO_MEMORY if anything was not added. */
bool buffer_ok(const struct buffer *buffer, struct error *err) MUST_CHECK;

/* The text so far; "" when empty. */
const char *buffer_str(const struct buffer *buffer);

void buffer_done(struct buffer *buffer);

#endif
