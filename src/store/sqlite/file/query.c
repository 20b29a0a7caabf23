/*
 * query.c - binding, stepping and reading, with one place for errors.
 */
#define SQL_TEXTS
#include "store/sqlite/file/query.h"

#include "base/cleanup.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static sqlite3_stmt *prepared(struct sqlite *sqlite, enum sql_statement which, int *status_out)
{
    sqlite3_stmt **slot = &sqlite->statements[which];

    *status_out = SQLITE_OK;
    if (*slot == NULL)
        *status_out = sqlite3_prepare_v3(sqlite->db, sql_texts[which], -1,
                                         SQLITE_PREPARE_PERSISTENT, slot, NULL);
    return *slot;
}

struct query query_start(struct sqlite *sqlite, enum sql_statement which)
{
    struct query query = {.sqlite = sqlite};

    query.statement = prepared(sqlite, which, &query.status);
    return query;
}

void query_done(struct query *query)
{
    /* Repeats the error of the last step, which was reported then. */
    if (query->statement != NULL)
        (void)sqlite3_reset(query->statement);
}

void query_again(struct query *query)
{
    query_done(query);
    query->parameter = 0;
    query->column = 0;
}

static void note(struct query *query, int status)
{
    if (query->status == SQLITE_OK)
        query->status = status;
}

void query_int(struct query *query, int64_t value)
{
    note(query, sqlite3_bind_int64(query->statement, ++query->parameter, value));
}

void query_null(struct query *query)
{
    note(query, sqlite3_bind_null(query->statement, ++query->parameter));
}

void query_int_or_null(struct query *query, int64_t value)
{
    if (value != 0)
        query_int(query, value);
    else
        query_null(query);
}

void query_text(struct query *query, const char *text)
{
    note(query, sqlite3_bind_text(query->statement, ++query->parameter, text, -1, SQLITE_STATIC));
}

void query_bytes(struct query *query, struct bytes bytes)
{
    assert(bytes.length <= INT_MAX);
    note(query, sqlite3_bind_blob(query->statement, ++query->parameter, bytes.data,
                                  (int)bytes.length, SQLITE_STATIC));
}

void query_uuid(struct query *query, const struct uuid *id)
{
    query_bytes(query, (struct bytes){id->bytes, sizeof(id->bytes)});
}

void query_token(struct query *query, const struct lease_token *token)
{
    query_bytes(query, (struct bytes){token->bytes, sizeof(token->bytes)});
}

bool query_row(struct query *query, bool *found_out, struct error *err)
{
    int status = query->status == SQLITE_OK ? sqlite3_step(query->statement) : query->status;

    query->column = 0;
    *found_out = status == SQLITE_ROW;
    if (status == SQLITE_ROW || status == SQLITE_DONE)
        return true;
    return sqlite_error(query->sqlite, status, err);
}

bool query_run(struct query *query, struct error *err)
{
    bool found;

    if (!query_row(query, &found, err))
        return false;
    assert(!found);
    return true;
}

bool query_on_seq(struct sqlite *sqlite, enum sql_statement which, int64_t seq, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, which);

    query_int(&query, seq);
    return query_run(&query, err);
}

int query_changes(const struct query *query)
{
    return sqlite3_changes(query->sqlite->db);
}

bool column_is_null(const struct query *query)
{
    return sqlite3_column_type(query->statement, query->column) == SQLITE_NULL;
}

int64_t column_int(struct query *query)
{
    return sqlite3_column_int64(query->statement, query->column++);
}

void column_skip(struct query *query)
{
    query->column++;
}

const char *column_text(struct query *query, struct arena *arena)
{
    const unsigned char *text = sqlite3_column_text(query->statement, query->column);
    int length = sqlite3_column_bytes(query->statement, query->column++);

    return text == NULL ? NULL : arena_text_of(arena, (const char *)text, (size_t)length);
}

/* An empty BLOB has no address in SQLite, and is still there. */
void column_copy(struct query *query, char *text, size_t size)
{
    const unsigned char *value = sqlite3_column_text(query->statement, query->column++);

    snprintf(text, size, "%s", value != NULL ? (const char *)value : "");
}

struct bytes column_bytes(struct query *query, struct arena *arena)
{
    struct bytes bytes = {0};

    if (column_is_null(query)) {
        query->column++;
        return bytes;
    }
    bytes.data = sqlite3_column_blob(query->statement, query->column);
    bytes.length = (size_t)sqlite3_column_bytes(query->statement, query->column++);
    if (bytes.data == NULL)
        bytes.data = (const unsigned char *)"";
    return arena_bytes(arena, bytes);
}

static void copy_exactly(struct query *query, unsigned char *into, size_t size)
{
    const void *data = sqlite3_column_blob(query->statement, query->column);

    if (data != NULL && (size_t)sqlite3_column_bytes(query->statement, query->column) == size)
        memcpy(into, data, size);
    query->column++;
}

struct uuid column_uuid(struct query *query)
{
    struct uuid id = {{0}};

    copy_exactly(query, id.bytes, sizeof(id.bytes));
    return id;
}

struct lease_token column_token(struct query *query)
{
    struct lease_token token = {{0}};

    copy_exactly(query, token.bytes, sizeof(token.bytes));
    return token;
}
