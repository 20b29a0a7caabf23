/*
 * query.h - one use of a prepared statement.
 *
 *     CLEANUP(sqlite_query_done)
 *     struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_FIND);
 *     sqlite_query_text(&query, name);
 *     if (!sqlite_query_row(&query, &found, err))
 *         return false;
 *     id = sqlite_row_int(&query);
 *
 * Parameters are bound, and columns read (row.h), in the order in which they stand in
 * statements.sql. Binding remembers its first failure for the step that follows. Statements are
 * prepared on first use and kept; leaving the scope resets them.
 */
#ifndef SQLITE_QUERY_H
#define SQLITE_QUERY_H

#include "base/base.h"
#include "base/error.h"
#include "base/uuid.h"
#include "job/lease.h"
#include "store/sqlite/file/connection.h"

#include "sqlite_statements.h"

#include <sqlite3.h>

struct sqlite_query {
    struct sqlite *sqlite;
    sqlite3_stmt *statement; /* NULL: could not be prepared */
    int parameter;           /* the last one bound */
    int column;              /* the next one to read */
    int status;              /* the first failure, or SQLITE_OK */
};

struct sqlite_query sqlite_query_start(struct sqlite *sqlite, enum sql_statement which);
void sqlite_query_done(struct sqlite_query *query);

/* For another round with other parameters. */
void sqlite_query_again(struct sqlite_query *query);

void sqlite_query_int(struct sqlite_query *query, int64_t value);
void sqlite_query_int_or_null(struct sqlite_query *query, int64_t value); /* 0 is absent */
void sqlite_query_text(struct sqlite_query *query, const char *text);     /* NULL is absent */
void sqlite_query_bytes(struct sqlite_query *query, struct bytes bytes);  /* {NULL, 0} is absent */
void sqlite_query_uuid(struct sqlite_query *query, const struct uuid *id);
void sqlite_query_token(struct sqlite_query *query, const struct lease_token *token);
void sqlite_query_null(struct sqlite_query *query);

/* To its end, for statements that answer no rows. */
bool sqlite_query_run(struct sqlite_query *query, struct error *err) MUST_CHECK;

/* To the next row. */
bool sqlite_query_row(struct sqlite_query *query, bool *found_out, struct error *err) MUST_CHECK;

/* A whole use of a statement whose only parameter is a seq, and which answers no rows. */
bool sqlite_query_on_seq(struct sqlite *sqlite, enum sql_statement which, int64_t seq,
                         struct error *err) MUST_CHECK;

/* Rows that the last statement changed. */
int sqlite_query_changes(const struct sqlite_query *query);

#endif
