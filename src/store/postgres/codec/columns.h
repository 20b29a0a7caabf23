/*
 * columns.h - the row that an answer has come to, as store/columns.h reads it.
 */
#ifndef POSTGRES_COLUMNS_H
#define POSTGRES_COLUMNS_H

#include "store/columns.h"
#include "store/postgres/net/answer.h"

struct columns pg_columns_of(struct pg_answer *answer, struct arena *arena);

#endif
