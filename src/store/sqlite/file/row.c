/*
 * row.c - columns, one after the other.
 */
#include "store/sqlite/file/row.h"

#include <stdio.h>
#include <string.h>

bool sqlite_row_is_null(const struct sqlite_query *query)
{
    return sqlite3_column_type(query->statement, query->column) == SQLITE_NULL;
}

int64_t sqlite_row_int(struct sqlite_query *query)
{
    return sqlite3_column_int64(query->statement, query->column++);
}

void sqlite_row_skip(struct sqlite_query *query)
{
    query->column++;
}

const char *sqlite_row_text(struct sqlite_query *query, struct arena *arena)
{
    const unsigned char *text = sqlite3_column_text(query->statement, query->column);
    int length = sqlite3_column_bytes(query->statement, query->column++);

    return !text ? NULL : arena_text_of(arena, (const char *)text, (size_t)length);
}

const char *sqlite_row_peek(struct sqlite_query *query)
{
    return (const char *)sqlite3_column_text(query->statement, query->column++);
}

void sqlite_row_copy(struct sqlite_query *query, char *text, size_t size)
{
    const unsigned char *value = sqlite3_column_text(query->statement, query->column++);

    snprintf(text, size, "%s", value ? (const char *)value : "");
}

/* An empty BLOB has no address in SQLite, and is still there. */
struct bytes sqlite_row_bytes(struct sqlite_query *query, struct arena *arena)
{
    struct bytes bytes = {0};

    if (sqlite_row_is_null(query)) {
        query->column++;
        return bytes;
    }
    bytes.data = sqlite3_column_blob(query->statement, query->column);
    bytes.length = (size_t)sqlite3_column_bytes(query->statement, query->column++);
    if (!bytes.data)
        bytes.data = (const unsigned char *)"";
    return arena_bytes(arena, bytes);
}

static void copy_exactly(struct sqlite_query *query, unsigned char *into, size_t size)
{
    const void *data = sqlite3_column_blob(query->statement, query->column);

    if (data && (size_t)sqlite3_column_bytes(query->statement, query->column) == size)
        memcpy(into, data, size);
    query->column++;
}

struct uuid sqlite_row_uuid(struct sqlite_query *query)
{
    struct uuid id = {{0}};

    copy_exactly(query, id.bytes, sizeof id.bytes);
    return id;
}

struct batch_token sqlite_row_batch(struct sqlite_query *query)
{
    struct batch_token token = {{0}};

    copy_exactly(query, token.bytes, sizeof token.bytes);
    return token;
}

/* -1 when it is none. */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void read_hex(const char *text, unsigned char *into, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0) {
            memset(into, 0, size);
            return;
        }
        into[i] = (unsigned char)(high << 4 | low);
    }
}

struct lease_token sqlite_row_token(struct sqlite_query *query)
{
    struct lease_token token = {{0}};

    if (sqlite3_column_type(query->statement, query->column) != SQLITE_TEXT) {
        copy_exactly(query, token.bytes, sizeof token.bytes);
        return token;
    }
    const char *text = sqlite_row_peek(query);
    if (text)
        read_hex(text, token.bytes, sizeof token.bytes);
    return token;
}
