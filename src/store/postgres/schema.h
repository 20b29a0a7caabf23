/*
 * schema.h - the tables and functions of our schema in somebody's database.
 */
#ifndef POSTGRES_SCHEMA_H
#define POSTGRES_SCHEMA_H

#include "base/base.h"
#include "store/postgres/net/connection.h"

/* Makes sure that this binary can use what is stored; with `migrate`, brings it up to date. */
bool pg_schema_prepare(struct postgres *postgres, const struct store_options *options,
                       struct error *err) MUST_CHECK;

/* What its user was not allowed to do. */
bool pg_schema_remark(struct postgres *postgres, struct store_schema *schema_out,
                      struct error *err) MUST_CHECK;

bool pg_schema_read(struct postgres *postgres, struct store_schema *schema_out,
                    struct error *err) MUST_CHECK;

#endif
