/*
 * columns.h - the row that a query has come to, as store/columns.h reads it.
 */
#ifndef SQLITE_COLUMNS_H
#define SQLITE_COLUMNS_H

#include "store/columns.h"
#include "store/sqlite/file/query.h"

struct columns sqlite_columns_of(struct sqlite_query *query, struct arena *arena);

#endif
