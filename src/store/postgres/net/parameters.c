/*
 * parameters.c - what a statement is given, in PostgreSQL's binary form.
 */
#include "store/postgres/net/statement.h"

#include <assert.h>
#include <endian.h>
#include <limits.h>
#include <string.h>

#define ABSENT      (-1)
#define COUNT_PLACE 12 /* in an array: dimensions, whether NULLs and type come before */

static void add_int4(struct buffer *data, int32_t value)
{
    uint32_t bytes = htobe32((uint32_t)value);

    buffer_add(data, &bytes, sizeof bytes);
}

static void add_int8(struct buffer *data, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);

    buffer_add(data, &bytes, sizeof bytes);
}

void pg_statement_end_array(struct pg_statement *statement)
{
    uint32_t elements = htobe32(statement->elements);
    size_t start;

    if (!statement->in_array)
        return;
    statement->in_array = false;
    start = statement->parameters[statement->count - 1].start;
    statement->parameters[statement->count - 1].length = statement->data.length - start;
    if (!statement->data.failed)
        memcpy(statement->data.data + start + COUNT_PLACE, &elements, sizeof elements);
}

static void add_parameter(struct pg_statement *statement, const void *value, size_t length)
{
    pg_statement_end_array(statement);
    assert(statement->count < STATEMENT_PARAMETERS);
    statement->parameters[statement->count].start = statement->data.length;
    statement->parameters[statement->count].length = length;
    statement->parameters[statement->count++].is_null = !value;
    if (value)
        buffer_add(&statement->data, value, length);
}

void pg_statement_null(struct pg_statement *statement)
{
    add_parameter(statement, NULL, 0);
}

void pg_statement_int(struct pg_statement *statement, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);

    add_parameter(statement, &bytes, sizeof bytes);
}

void pg_statement_int4(struct pg_statement *statement, int value)
{
    uint32_t bytes = htobe32((uint32_t)value);

    add_parameter(statement, &bytes, sizeof bytes);
}

void pg_statement_int2(struct pg_statement *statement, int value)
{
    uint16_t bytes = htobe16((uint16_t)value);

    add_parameter(statement, &bytes, sizeof bytes);
}

void pg_statement_bool(struct pg_statement *statement, bool value)
{
    const char byte = value ? 1 : 0;

    add_parameter(statement, &byte, sizeof byte);
}

void pg_statement_int_or_null(struct pg_statement *statement, int64_t value)
{
    if (value != 0)
        pg_statement_int(statement, value);
    else
        pg_statement_null(statement);
}

void pg_statement_text(struct pg_statement *statement, const char *text)
{
    add_parameter(statement, text, text ? strlen(text) : 0);
}

void pg_statement_bytes(struct pg_statement *statement, struct bytes bytes)
{
    add_parameter(statement, bytes.data, bytes.length);
}

void pg_statement_uuid(struct pg_statement *statement, const struct uuid *id)
{
    add_parameter(statement, id->bytes, sizeof id->bytes);
}

void pg_statement_array(struct pg_statement *statement, enum array_type type)
{
    add_parameter(statement, "", 0);
    statement->in_array = true;
    statement->elements = 0;
    add_int4(&statement->data, 1);
    add_int4(&statement->data, 1);
    add_int4(&statement->data, type);
    add_int4(&statement->data, 0);
    add_int4(&statement->data, 1);
}

static void add_element(struct pg_statement *statement, const void *value, size_t length)
{
    assert(statement->in_array && length <= INT32_MAX);
    statement->elements++;
    add_int4(&statement->data, value ? (int32_t)length : ABSENT);
    if (value)
        buffer_add(&statement->data, value, length);
}

void pg_element_null(struct pg_statement *statement)
{
    add_element(statement, NULL, 0);
}

void pg_element_int(struct pg_statement *statement, int64_t value)
{
    statement->elements++;
    add_int4(&statement->data, sizeof value);
    add_int8(&statement->data, value);
}

void pg_element_int4(struct pg_statement *statement, int value)
{
    statement->elements++;
    add_int4(&statement->data, sizeof value);
    add_int4(&statement->data, value);
}

void pg_element_int_or_null(struct pg_statement *statement, int64_t value)
{
    if (value != 0)
        pg_element_int(statement, value);
    else
        pg_element_null(statement);
}

void pg_element_int4_or_null(struct pg_statement *statement, int value)
{
    if (value != 0)
        pg_element_int4(statement, value);
    else
        pg_element_null(statement);
}

void pg_element_bool(struct pg_statement *statement, bool value)
{
    const char byte = value ? 1 : 0;

    add_element(statement, &byte, sizeof byte);
}

void pg_element_text(struct pg_statement *statement, const char *text)
{
    add_element(statement, text, text ? strlen(text) : 0);
}

void pg_element_bytes(struct pg_statement *statement, struct bytes bytes)
{
    add_element(statement, bytes.data, bytes.length);
}

void pg_element_uuid(struct pg_statement *statement, const struct uuid *id)
{
    add_element(statement, id->bytes, sizeof id->bytes);
}

void pg_element_bits(struct pg_statement *statement, const unsigned char *bits, size_t count)
{
    const size_t length = (count + 7) / 8;

    assert(statement->in_array && count <= INT32_MAX);
    statement->elements++;
    add_int4(&statement->data, (int32_t)(sizeof(int32_t) + length));
    add_int4(&statement->data, (int32_t)count);
    buffer_add(&statement->data, (const char *)bits, length);
}

void pg_element_token(struct pg_statement *statement, const struct lease_token *token)
{
    add_element(statement, token->bytes, sizeof token->bytes);
}
