/*
 * query.h - one use of a prepared statement.
 *
 *     CLEANUP(query_done) struct query query = query_start(sqlite, SQL_QUEUE_FIND);
 *     query_text(&query, name);
 *     if (!query_row(&query, &found, err))
 *         return false;
 *     id = column_int(&query);
 *
 * Parameters are bound and columns are read in the order in which they stand in statements.sql.
 * Binding remembers its first failure for the step that follows. Statements are prepared on
 * first use and kept; leaving the scope resets them.
 */
#ifndef SQLITE_QUERY_H
#define SQLITE_QUERY_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/uuid.h"
#include "job/lease.h"
#include "store/sqlite/file/connection.h"

#include "sqlite_statements.h"

#include <sqlite3.h>

struct query {
    struct sqlite *sqlite;
    sqlite3_stmt *statement; /* NULL: could not be prepared */
    int parameter;           /* the last one bound */
    int column;              /* the next one to read */
    int status;              /* the first failure, or SQLITE_OK */
};

struct query query_start(struct sqlite *sqlite, enum sql_statement which);
void query_done(struct query *query);

/* For another round with other parameters. */
void query_again(struct query *query);

void query_int(struct query *query, int64_t value);
void query_int_or_null(struct query *query, int64_t value); /* 0 is absent */
void query_text(struct query *query, const char *text);     /* NULL is absent */
void query_bytes(struct query *query, struct bytes bytes);  /* {NULL, 0} is absent */
void query_uuid(struct query *query, const struct uuid *id);
void query_token(struct query *query, const struct lease_token *token);
void query_null(struct query *query);

/* To its end, for statements that answer no rows. */
bool query_run(struct query *query, struct error *err) MUST_CHECK;

/* To the next row. */
bool query_row(struct query *query, bool *found_out, struct error *err) MUST_CHECK;

/* A whole use of a statement whose only parameter is a seq, and which answers no rows. */
bool query_on_seq(struct sqlite *sqlite, enum sql_statement which, int64_t seq,
                  struct error *err) MUST_CHECK;

/* Rows that the last statement changed. */
int query_changes(const struct query *query);

bool column_is_null(const struct query *query); /* the next column; does not move on */
int64_t column_int(struct query *query);        /* NULL is 0 */
void column_skip(struct query *query);
const char *column_text(struct query *query, struct arena *arena);
/* Into an array; NULL is "", and what does not fit is cut. */
void column_copy(struct query *query, char *text, size_t size);
struct bytes column_bytes(struct query *query, struct arena *arena);
struct uuid column_uuid(struct query *query);         /* nil when it is not one */
struct lease_token column_token(struct query *query); /* zero when it is not one */

#endif
