/*
 * error.c - a code to branch on, a text to show.
 *
 * Texts are built in a local array first, so that an argument may be the text that is there. A text
 * that is too long is cut between two characters and ends in "...".
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A prefix leaves at least this much room for the text after it. */
#define PREFIX_SIZE (ERROR_TEXT_SIZE / 2)

/* Makes a text that was cut at `size` end in dots, without half a UTF-8 character before them. */
static void end_in_dots(char *text, size_t size)
{
    size_t end = size - sizeof "...";

    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", sizeof "...");
}

static void format_text(char *text, size_t size, const char *format, va_list arguments)
{
    const int length = vsnprintf(text, size, format, arguments);

    if (length >= 0 && (size_t)length >= size)
        end_in_dots(text, size);
}

static void put_joined(struct error *err, const char *before, const char *after)
{
    char text[ERROR_TEXT_SIZE];
    const int length = snprintf(text, sizeof text, "%s: %s", before, after);

    if ((size_t)length >= sizeof text)
        end_in_dots(text, sizeof text);
    memcpy(err->text, text, sizeof text);
}

bool error_set(struct error *err, enum th_error_code code, const char *format, ...)
{
    char text[ERROR_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);

    err->code = code;
    memcpy(err->text, text, sizeof text);
    return false;
}

bool error_errno(struct error *err, enum th_error_code code, int number, const char *format, ...)
{
    char text[PREFIX_SIZE], meaning[PREFIX_SIZE];
    va_list arguments;

    va_start(arguments, format);
    format_text(text, sizeof text, format, arguments);
    va_end(arguments);

    err->code = code;
    put_joined(err, text, strerror_r(number, meaning, sizeof meaning));
    return false;
}

bool error_prefix(struct error *err, const char *format, ...)
{
    char prefix[PREFIX_SIZE];
    va_list arguments;

    va_start(arguments, format);
    format_text(prefix, sizeof prefix, format, arguments);
    va_end(arguments);

    put_joined(err, prefix, err->text);
    return false;
}

bool error_no_memory(struct error *err)
{
    return error_set(err, TH_E_NO_MEMORY, "out of memory");
}

const char *error_code_name(enum th_error_code code)
{
    switch (code) {
    case TH_OK:
        return "ok";
    case TH_E_INVALID:
        return "invalid";
    case TH_E_UNAVAILABLE:
        return "unavailable";
    case TH_E_UNCERTAIN:
        return "uncertain";
    case TH_E_NOT_FOUND:
        return "not_found";
    case TH_E_NOT_RUNNING:
        return "not_running";
    case TH_E_LEASE_EXPIRED:
        return "lease_expired";
    case TH_E_LEASE_MISMATCH:
        return "lease_mismatch";
    case TH_E_CONFLICT:
        return "conflict";
    case TH_E_SCHEMA:
        return "schema";
    case TH_E_NO_MEMORY:
        return "no_memory";
    case TH_E_INTERNAL:
        return "internal";
    }
    return "unknown";
}
