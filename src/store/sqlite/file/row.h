/*
 * row.h - the row that a query has come to: each call reads the next of its columns.
 */
#ifndef SQLITE_ROW_H
#define SQLITE_ROW_H

#include "base/arena.h"
#include "base/base.h"
#include "base/uuid.h"
#include "job/lease.h"
#include "store/sqlite/file/query.h"

bool sqlite_row_is_null(const struct sqlite_query *query); /* the next column; does not move on */
int64_t sqlite_row_int(struct sqlite_query *query);        /* NULL is 0 */
void sqlite_row_skip(struct sqlite_query *query);
const char *sqlite_row_text(struct sqlite_query *query, struct arena *arena);
/* Where it lies, until the query goes on; NULL when it is NULL, or out of memory. */
const char *sqlite_row_peek(struct sqlite_query *query);
/* Into an array; NULL is "", and what does not fit is cut. */
void sqlite_row_copy(struct sqlite_query *query, char *text, size_t size);
struct bytes sqlite_row_bytes(struct sqlite_query *query, struct arena *arena);
struct uuid sqlite_row_uuid(struct sqlite_query *query); /* nil when it is not one */
/* As bytes or as hexadecimal text; zero when it is not one. */
struct lease_token sqlite_row_token(struct sqlite_query *query);
struct batch_token sqlite_row_batch(struct sqlite_query *query); /* zero when it is not one */

#endif
