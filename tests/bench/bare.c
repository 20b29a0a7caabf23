/*
 * bare.c - the few calls that every bare loop needs; any failure ends the program.
 */
#include "bench/bare.h"

#include "base/error.h"
#include "bench/bench.h"

static const char *synchronous = "PRAGMA synchronous = FULL";

void bare_relax(void)
{
    synchronous = "PRAGMA synchronous = NORMAL";
}

static void check(sqlite3 *db, int status, int expected, const char *what)
{
    struct error err;

    if (status == expected)
        return;
    error_set(&err, TH_E_INTERNAL, "%s", sqlite3_errmsg(db));
    bench_die(what, &err);
}

void bare_exec(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, sql);
}

sqlite3 *bare_open(const char *path)
{
    sqlite3 *db = NULL;

    check(db, sqlite3_open(path, &db), SQLITE_OK, path);
    bare_exec(db, "PRAGMA journal_mode = WAL");
    bare_exec(db, synchronous);
    return db;
}

void bare_close(sqlite3 *db)
{
    sqlite3_close_v2(db);
}

sqlite3_stmt *bare_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    check(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL),
          SQLITE_OK, sql);
    return statement;
}

void bare_step(sqlite3_stmt *statement)
{
    check(sqlite3_db_handle(statement), sqlite3_step(statement), SQLITE_DONE,
          sqlite3_sql(statement));
    sqlite3_reset(statement);
}

sqlite3_int64 bare_int(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = bare_prepare(db, sql);

    check(db, sqlite3_step(statement), SQLITE_ROW, sql);
    sqlite3_int64 number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}
