/*
 * columns.c - the reader of SQLite's columns.
 */
#include "store/sqlite/codec/columns.h"

#include "store/sqlite/file/row.h"

static bool is_null(const void *row)
{
    return sqlite_row_is_null(row);
}

static int64_t number(void *row)
{
    return sqlite_row_int(row);
}

static const char *text(void *row, struct arena *arena)
{
    return sqlite_row_text(row, arena);
}

static struct bytes bytes(void *row, struct arena *arena)
{
    return sqlite_row_bytes(row, arena);
}

static struct uuid uuid(void *row)
{
    return sqlite_row_uuid(row);
}

static struct lease_token token(void *row)
{
    return sqlite_row_token(row);
}

static const struct columns_reader reader = {
    .is_null = is_null,
    .number = number,
    .text = text,
    .bytes = bytes,
    .uuid = uuid,
    .token = token,
};

struct columns sqlite_columns_of(struct sqlite_query *query, struct arena *arena)
{
    return (struct columns){.reader = &reader, .row = query, .arena = arena};
}
