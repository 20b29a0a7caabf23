/*
 * sqlite_backdoor.c - past the driver, straight into the SQLite file.
 *
 * Each function opens the file, does one thing and closes it; only block() keeps it open.
 */
#include "backends.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define LEASE_OF_JOB " WHERE seq = (SELECT seq FROM job WHERE id = ?1)"

/* The lease is the state: a job that has one runs, so that cannot be contradicted. */
/* clang-format off */
static const char *const violation_sql[VIOLATIONS] = {
    [RUNNING_WITHOUT_LEASE]  = "INSERT INTO waiting (state, due, seq, queue_id)"
                               " SELECT 3, due, seq, queue_id FROM job WHERE id = ?1",
    [LEASE_WITHOUT_RUNNING]  = NULL,
    [RUNNING_WITHOUT_TOKEN]  = "UPDATE lease SET token = NULL" LEASE_OF_JOB,
    [RUNNING_WITHOUT_EXPIRY] = "UPDATE lease SET expires_at = NULL" LEASE_OF_JOB,
    [LEASED_TWICE]           = "INSERT INTO lease SELECT * FROM lease" LEASE_OF_JOB,
};
/* clang-format on */

static void require(bool done, sqlite3 *database, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "backdoor: %s: %s\n", what, sqlite3_errmsg(database));
    abort();
}

static sqlite3 *open_file(const char *url)
{
    char path[BACKEND_URL_SIZE];
    sqlite3 *database = NULL;

    backend_sqlite_path(url, path);
    require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, database,
            path);
    sqlite3_busy_timeout(database, 5000);
    return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    require(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK, database, sql);
    return statement;
}

/* What the statement ends with, run once for this job. */
static int step_for_job(sqlite3 *database, const char *sql, const struct uuid *id)
{
    sqlite3_stmt *statement = prepare(database, sql);

    sqlite3_bind_blob(statement, 1, id->bytes, sizeof id->bytes, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return result;
}

static void damage_job(const char *url, const struct uuid *id)
{
    sqlite3 *database = open_file(url);
    const char *sql = "UPDATE job SET type = 'not a name!' WHERE id = ?1";

    require(step_for_job(database, sql, id) == SQLITE_DONE, database, sql);
    require(sqlite3_changes(database) == 1, database, "no such job");
    sqlite3_close(database);
}

static void set_schema(const char *url, int version, int usable_from)
{
    sqlite3 *database = open_file(url);
    sqlite3_stmt *statement = prepare(database, "UPDATE meta SET version = ?1, usable_from = ?2");

    sqlite3_bind_int(statement, 1, version);
    sqlite3_bind_int(statement, 2, usable_from);
    require(sqlite3_step(statement) == SQLITE_DONE, database, "set the schema's version");
    require(sqlite3_changes(database) == 1, database, "the schema has no version");
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

static bool refuses(const char *url, const struct uuid *id, enum violation violation)
{
    if (violation_sql[violation] == NULL)
        return true;
    sqlite3 *database = open_file(url);
    int result = step_for_job(database, violation_sql[violation], id);

    require(result == SQLITE_CONSTRAINT || sqlite3_changes(database) == 1, database, "no such job");
    sqlite3_close(database);
    return result == SQLITE_CONSTRAINT;
}

static void block(const char *url)
{
    sqlite3 *database = open_file(url);
    const char *sql = "BEGIN IMMEDIATE";

    require(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, database, sql);
}

const struct backdoor sqlite_backdoor = {
    .damage_job = damage_job,
    .set_schema = set_schema,
    .refuses = refuses,
    .block = block,
};
