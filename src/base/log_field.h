/*
 * log_field.h - the fields of an event, read one by one from a format and its arguments.
 *
 * A value is what its part of the format prints, whatever that has in it; only a space in the
 * format itself ends a field. Anything that is not a field, or not a conversion that log.h names,
 * is a bug and ends the process.
 */
#ifndef BASE_LOG_FIELD_H
#define BASE_LOG_FIELD_H

#include "base/base.h"

#include <stdarg.h>

/* Of a value; longer ones fit on no line, and are cut here already. */
#define LOG_FIELD_MAX 4096

enum log_kind {
    KIND_TEXT,
    KIND_NUMBER, /* one decimal number and nothing else */
    KIND_ABSENT, /* NULL for %s and nothing else; the value is "-" */
};

struct log_fields {
    const char *rest; /* of the format */
    va_list arguments;
};

struct log_field {
    struct bytes key;
    enum log_kind kind;
    bool is_last;
    size_t length;
    char value[LOG_FIELD_MAX]; /* bytes of any kind, not terminated */
};

/* False when there are no more. */
bool log_field_read(struct log_fields *fields, struct log_field *field_out);

/* Whether one of the fields has this key. */
bool log_field_is_in(const char *format, const char *key);

#endif
