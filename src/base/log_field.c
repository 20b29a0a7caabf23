/*
 * log_field.c - the fields of an event, read one by one from a format and its arguments.
 *
 * A printf of our own, because the C library's would give one text in which the values of a job and
 * the fields around them cannot be told apart any more.
 */
#include "base/log_field.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_SIZE 32

static void add(struct log_field *field, const void *data, size_t length)
{
    const size_t room = sizeof field->value - field->length;
    const size_t added = length < room ? length : room;

    memcpy(field->value + field->length, data, added);
    field->length += added;
}

/* How many bytes the integer has that is meant by h, l, ll, z, j or t; steps over it. */
static size_t read_size(struct log_fields *fields)
{
    static const struct {
        const char *modifier;
        size_t size;
    } sizes[] = {
        {"hh", sizeof(char)},     {"h", sizeof(short)},  {"ll", sizeof(long long)},
        {"l", sizeof(long)},      {"z", sizeof(size_t)}, {"j", sizeof(intmax_t)},
        {"t", sizeof(ptrdiff_t)},
    };

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        if (text_starts_with(fields->rest, sizes[i].modifier)) {
            fields->rest += strlen(sizes[i].modifier);
            return sizes[i].size;
        }
    }
    return sizeof(int);
}

/* Integers of one size are passed alike, and none is passed as less than an int. */
static void add_signed(struct log_fields *fields, struct log_field *field, size_t size)
{
    char text[NUMBER_SIZE];
    const int64_t number =
        size > sizeof(int) ? va_arg(fields->arguments, int64_t) : va_arg(fields->arguments, int);
    const int length = snprintf(text, sizeof text, "%" PRId64, number);

    add(field, text, (size_t)length);
}

static void add_unsigned(struct log_fields *fields, struct log_field *field, size_t size, char base)
{
    char text[NUMBER_SIZE];
    const uint64_t number = size > sizeof(int) ? va_arg(fields->arguments, uint64_t)
                                               : va_arg(fields->arguments, unsigned);
    const int length = base == 'u'   ? snprintf(text, sizeof text, "%" PRIu64, number)
                       : base == 'x' ? snprintf(text, sizeof text, "%" PRIx64, number)
                       : base == 'X' ? snprintf(text, sizeof text, "%" PRIX64, number)
                                     : snprintf(text, sizeof text, "%" PRIo64, number);

    add(field, text, (size_t)length);
}

static enum log_kind add_text(struct log_fields *fields, struct log_field *field, int precision)
{
    const size_t max = precision < 0 ? LOG_FIELD_MAX : (size_t)precision;
    const char *text = va_arg(fields->arguments, const char *);

    if (!text) {
        add(field, "-", 1);
        return KIND_ABSENT;
    }
    add(field, text, strnlen(text, max < LOG_FIELD_MAX ? max : LOG_FIELD_MAX));
    return KIND_TEXT;
}

static enum log_kind add_precise_text(struct log_fields *fields, struct log_field *field)
{
    assert(text_starts_with(fields->rest, "*s"));
    fields->rest += 2;
    const int precision = va_arg(fields->arguments, int);
    return add_text(fields, field, precision);
}

static enum log_kind add_character(struct log_field *field, int character)
{
    const char c = (char)character;

    add(field, &c, 1);
    return KIND_TEXT;
}

static enum log_kind add_integer(struct log_fields *fields, struct log_field *field)
{
    const size_t size = read_size(fields);
    const char conversion = *fields->rest;

    assert(conversion != '\0' && strchr("diuxXo", conversion));
    fields->rest++;
    if (conversion == 'd' || conversion == 'i')
        add_signed(fields, field, size);
    else
        add_unsigned(fields, field, size, conversion);
    return strchr("diu", conversion) ? KIND_NUMBER : KIND_TEXT;
}

/* From its '%' on. */
static enum log_kind add_conversion(struct log_fields *fields, struct log_field *field)
{
    const char conversion = fields->rest[1];

    fields->rest++;
    if (conversion == '\0' || !strchr("s.c%", conversion))
        return add_integer(fields, field);
    fields->rest++;
    if (conversion == 's')
        return add_text(fields, field, -1);
    if (conversion == '.')
        return add_precise_text(fields, field);
    return add_character(field, conversion == 'c' ? va_arg(fields->arguments, int) : '%');
}

static enum log_kind add_literal(struct log_fields *fields, struct log_field *field)
{
    const size_t length = strcspn(fields->rest, "% ");

    add(field, fields->rest, length);
    fields->rest += length;
    return KIND_TEXT;
}

static void read_key(struct log_fields *fields, struct log_field *field)
{
    const size_t length = strspn(fields->rest, "abcdefghijklmnopqrstuvwxyz0123456789_");

    assert(length > 0 && fields->rest[length] == '=');
    field->key = (struct bytes){(const unsigned char *)fields->rest, length};
    fields->rest += length + 1;
}

static void read_value(struct log_fields *fields, struct log_field *field)
{
    size_t parts = 0;

    field->length = 0;
    field->kind = KIND_TEXT;
    for (; *fields->rest != '\0' && *fields->rest != ' '; parts++)
        field->kind =
            *fields->rest == '%' ? add_conversion(fields, field) : add_literal(fields, field);
    if (parts > 1)
        field->kind = KIND_TEXT;
}

bool log_field_read(struct log_fields *fields, struct log_field *field_out)
{
    if (*fields->rest == '\0')
        return false;
    read_key(fields, field_out);
    read_value(fields, field_out);
    field_out->is_last = *fields->rest == '\0';
    if (!field_out->is_last) {
        fields->rest++;
        assert(*fields->rest != '\0'); /* a space is followed by a field */
    }
    return true;
}

bool log_field_is_in(const char *format, const char *key)
{
    const size_t length = strlen(key);

    while (format) {
        if (text_starts_with(format, key) && format[length] == '=')
            return true;
        format = strchr(format, ' ');
        if (format)
            format++;
    }
    return false;
}
