/*
 * schema.h - the tables and functions of our schema in somebody's database.
 *
 * Tables migrate, functions are replaced. Four folders, installed in this order and in one
 * transaction:
 *
 *     schema/NNN_NAME.sql    tables and indexes: applied once, frozen when version NNN is released
 *     functions/             private functions and types: those of each version side by side
 *     functions/public/      what users call, by SQL
 *     views/                 what users read, by SQL
 *
 * One number is the version of all of it: the last line of functions/VERSION. Whatever is changed
 * after a release begins a new version, and scripts/embed-sql does not build otherwise. Tables have
 * a file only where they change, and within a major release only get more columns and tables.
 *
 * Private names carry their version (exchange_v1), which scripts/embed-sql puts in wherever one is
 * created or called. So those of a version only ever call each other, and nobody replaces what
 * another program is at: machines are upgraded one by one, and a program of an older version goes
 * on with its own functions on the newer tables. If they are not there (the schema was made by a
 * newer one) it adds them, and touches nothing else. A major release removes old ones, in a file of
 * schema/, and raises usable_from.
 *
 * Public ones are replaced in place, because users' own views, functions and grants depend on them:
 * by a program of the same or a newer version, never by an older one. They keep their parameters,
 * which PostgreSQL sees to; a view only gets more columns, at its end. A view is replaced only when
 * its text has changed: that waits for whoever has read it in an open transaction.
 *
 *     meta.version    the newest version that has migrated; its public functions are there
 *     installed       the digest of each version's functions, and of the views
 *
 * The digest tells that a version is what we call by that number. It always is for releases;
 * another build of the same number is refused, because either would break the other. `thctl
 * migrate` creates all functions of its version again, also when nothing is missing: so it repairs
 * what somebody has changed or dropped.
 */
#ifndef POSTGRES_SCHEMA_H
#define POSTGRES_SCHEMA_H

#include "base/base.h"
#include "store/postgres/net/connection.h"

/* Makes sure that this binary can use what is stored; with `migrate`, brings it up to date. */
bool pg_schema_prepare(struct postgres *postgres, const struct store_options *options,
                       struct error *err) MUST_CHECK;

/* What is there; `version` 0 is a schema that has nothing in it yet. The remark is what its user
 * was not allowed to do. */
bool pg_schema_look(struct postgres *postgres, struct store_schema *schema_out,
                    struct error *err) MUST_CHECK;

#endif
