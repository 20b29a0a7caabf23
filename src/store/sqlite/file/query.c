/*
 * query.c - binding and stepping, with one place for errors.
 */
#define SQL_TEXTS
#include "store/sqlite/file/query.h"

#include "base/cleanup.h"

#include <assert.h>
#include <limits.h>

static sqlite3_stmt *prepared(struct sqlite *sqlite, enum sql_statement which, int *status_out)
{
    sqlite3_stmt **slot = &sqlite->statements[which];

    *status_out = SQLITE_OK;
    if (!*slot)
        *status_out = sqlite3_prepare_v3(sqlite->db, sql_texts[which], -1,
                                         SQLITE_PREPARE_PERSISTENT, slot, NULL);
    return *slot;
}

struct sqlite_query sqlite_query_start(struct sqlite *sqlite, enum sql_statement which)
{
    struct sqlite_query query = {.sqlite = sqlite};

    query.statement = prepared(sqlite, which, &query.status);
    return query;
}

void sqlite_query_done(struct sqlite_query *query)
{
    /* Repeats the error of the last step, which was reported then. */
    if (query->statement)
        (void)sqlite3_reset(query->statement);
}

void sqlite_query_again(struct sqlite_query *query)
{
    sqlite_query_done(query);
    query->parameter = 0;
    query->column = 0;
}

static void note(struct sqlite_query *query, int status)
{
    if (query->status == SQLITE_OK)
        query->status = status;
}

void sqlite_query_int(struct sqlite_query *query, int64_t value)
{
    note(query, sqlite3_bind_int64(query->statement, ++query->parameter, value));
}

void sqlite_query_null(struct sqlite_query *query)
{
    note(query, sqlite3_bind_null(query->statement, ++query->parameter));
}

void sqlite_query_int_or_null(struct sqlite_query *query, int64_t value)
{
    if (value != 0)
        sqlite_query_int(query, value);
    else
        sqlite_query_null(query);
}

void sqlite_query_text(struct sqlite_query *query, const char *text)
{
    note(query, sqlite3_bind_text(query->statement, ++query->parameter, text, -1, SQLITE_STATIC));
}

void sqlite_query_bytes(struct sqlite_query *query, struct bytes bytes)
{
    assert(bytes.length <= INT_MAX);
    note(query, sqlite3_bind_blob(query->statement, ++query->parameter, bytes.data,
                                  (int)bytes.length, SQLITE_STATIC));
}

void sqlite_query_uuid(struct sqlite_query *query, const struct uuid *id)
{
    sqlite_query_bytes(query, (struct bytes){id->bytes, sizeof id->bytes});
}

void sqlite_query_token(struct sqlite_query *query, const struct lease_token *token)
{
    sqlite_query_bytes(query, (struct bytes){token->bytes, sizeof token->bytes});
}

bool sqlite_query_row(struct sqlite_query *query, bool *found_out, struct error *err)
{
    int status = query->status == SQLITE_OK ? sqlite3_step(query->statement) : query->status;

    query->column = 0;
    *found_out = status == SQLITE_ROW;
    if (status == SQLITE_ROW || status == SQLITE_DONE)
        return true;
    return sqlite_error(query->sqlite, status, err);
}

bool sqlite_query_run(struct sqlite_query *query, struct error *err)
{
    bool found;

    if (!sqlite_query_row(query, &found, err))
        return false;
    assert(!found);
    return true;
}

bool sqlite_query_on_seq(struct sqlite *sqlite, enum sql_statement which, int64_t seq,
                         struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    sqlite_query_int(&query, seq);
    return sqlite_query_run(&query, err);
}

int sqlite_query_changes(const struct sqlite_query *query)
{
    return sqlite3_changes(query->sqlite->db);
}
