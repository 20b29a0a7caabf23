/*
 * columns.c - the reader of PostgreSQL's columns.
 */
#include "store/postgres/codec/columns.h"

static bool is_null(const void *row)
{
    return pg_answer_is_null(row);
}

static int64_t number(void *row)
{
    return pg_answer_int(row);
}

static const char *text(void *row, struct arena *arena)
{
    return pg_answer_text(row, arena);
}

static struct bytes bytes(void *row, struct arena *arena)
{
    return pg_answer_bytes(row, arena);
}

static struct uuid uuid(void *row)
{
    return pg_answer_uuid(row);
}

static struct lease_token token(void *row)
{
    return pg_answer_token(row);
}

static const struct columns_reader reader = {
    .is_null = is_null,
    .number = number,
    .text = text,
    .bytes = bytes,
    .uuid = uuid,
    .token = token,
};

struct columns pg_columns_of(struct pg_answer *answer, struct arena *arena)
{
    return (struct columns){.reader = &reader, .row = answer, .arena = arena};
}
