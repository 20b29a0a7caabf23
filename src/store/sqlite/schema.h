/*
 * schema.h - whether this binary and this file fit, and making them fit.
 *
 * The file keeps `version` and `usable_from`. A binary is refused only if its own number is below
 * usable_from; migrations within a major release only add, so machines are upgraded one by one.
 */
#ifndef SQLITE_SCHEMA_H
#define SQLITE_SCHEMA_H

#include "base/base.h"
#include "store/sqlite/file/connection.h"

/* Brings the file up to date when `migrate`, whoever else does the same right now; then refuses
 * with TH_E_SCHEMA what this binary cannot use. */
bool sqlite_schema_prepare(struct sqlite *sqlite, const struct store_options *options,
                           struct error *err) MUST_CHECK;

bool sqlite_schema_read(struct sqlite *sqlite, struct store_schema *schema_out,
                        struct error *err) MUST_CHECK;

#endif
