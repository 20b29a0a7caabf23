/*
 * bare.h - SQLite called directly, for the bare loops that the store is compared with.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "base/base.h"

#include <sqlite3.h>

/* Write-ahead logging and synchronous=FULL, as the store has it; NORMAL once this was called. */
void bare_relax(void);
sqlite3 *bare_open(const char *path);
void bare_close(sqlite3 *db);

void bare_exec(sqlite3 *db, const char *sql);
sqlite3_stmt *bare_prepare(sqlite3 *db, const char *sql);

/* The one number that is the answer. */
sqlite3_int64 bare_int(sqlite3 *db, const char *sql);

/* A statement without rows: runs it and makes it ready for the next use. */
void bare_step(sqlite3_stmt *statement);

#endif
