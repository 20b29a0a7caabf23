/*
 * schema.c - numbered migrations, applied in one transaction.
 */
#include "store/sqlite/schema.h"

#include "base/cleanup.h"
#include "store/checks.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"

#include "sqlite_migrations.h"

#include <stdio.h>

#define NEWEST ((int)COUNT_OF(sql_migrations))

/* The lowest binary that may use a file of version NEWEST. */
#define USABLE_FROM 4 /* leases may be in batches */

/* Written into the file's header: `file jobs.db` and we ourselves tell by it whose it is. */
#define APPLICATION_ID 0x54484172 /* "THAr" */

/* The pragmas that answer one number. */
static bool read_number(struct sqlite *sqlite, const char *sql, int64_t *number_out,
                        struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(sqlite->db, sql, -1, &statement, NULL);

    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    if (status == SQLITE_ROW)
        *number_out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status == SQLITE_ROW || sqlite_error(sqlite, status, err);
}

bool sqlite_schema_read(struct sqlite *sqlite, struct store_schema *schema_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_SCHEMA);

    if (!sqlite_query_row(&query, &found, err))
        return false;
    if (!found)
        return error_set(err, TH_E_SCHEMA, "sqlite: %s: the schema has no version", sqlite->path);
    schema_out->version = (int)sqlite_row_int(&query);
    schema_out->usable_from = (int)sqlite_row_int(&query);
    schema_out->newest = NEWEST;
    return true;
}

/* Version 0 is a file that has nothing in it yet. */
static bool read_version(struct sqlite *sqlite, struct store_schema *schema_out, struct error *err)
{
    int64_t application = 0, tables = 0;

    /* The tables first: whoever migrates meanwhile commits them together with the id, so tables
     * without our id really are somebody else's. */
    if (!read_number(sqlite, "SELECT count(*) FROM sqlite_schema", &tables, err) ||
        !read_number(sqlite, "PRAGMA application_id", &application, err))
        return false;
    if (application == APPLICATION_ID && tables > 0)
        return sqlite_schema_read(sqlite, schema_out, err);
    if (tables > 0)
        return error_set(err, TH_E_SCHEMA,
                         "sqlite: %s: this database belongs to another program; give TaskHarbor a "
                         "file of its own",
                         sqlite->path);
    *schema_out = (struct store_schema){.version = 0, .usable_from = 0, .newest = NEWEST};
    return true;
}

static bool write_version(struct sqlite *sqlite, struct error *err)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "DELETE FROM meta; INSERT INTO meta VALUES (%d, %d); PRAGMA application_id = %d",
             NEWEST, USABLE_FROM, APPLICATION_ID);
    return sqlite_execute(sqlite, sql, err);
}

/* Another process may have done it while we waited for our turn. */
static bool apply_missing(struct sqlite *sqlite, struct error *err)
{
    struct store_schema schema = {0};

    if (!read_version(sqlite, &schema, err))
        return false;
    if (schema.version >= NEWEST)
        return true;
    for (int i = schema.version; i < NEWEST; i++)
        if (!sqlite_execute(sqlite, sql_migrations[i], err))
            return error_prefix(err, "migrate to version %d", i + 1);
    return write_version(sqlite, err);
}

/* Write-ahead logging is a property of the file, set once and outside of transactions. The change
 * itself needs the file for us alone, hence inside the turnstile. */
static bool set_journal(struct sqlite *sqlite, struct error *err)
{
    return sqlite_execute(sqlite, "PRAGMA journal_mode = WAL", err);
}

static bool migrate_file(struct sqlite *sqlite, struct error *err)
{
    struct store_schema schema = {0};

    if (!sqlite_turnstile_enter(&sqlite->turnstile, store_deadline(&sqlite->base), err))
        return false;
    bool set =
        read_version(sqlite, &schema, err) && (schema.version > 0 || set_journal(sqlite, err));
    sqlite_turnstile_leave(&sqlite->turnstile);
    return set && sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, apply_missing(sqlite, err), err);
}

bool sqlite_schema_prepare(struct sqlite *sqlite, const struct store_options *options,
                           struct error *err)
{
    struct store_schema schema = {0};
    char what[ERROR_TEXT_SIZE];

    if (!read_version(sqlite, &schema, err))
        return false;
    if (schema.version < NEWEST && options->migrate) {
        if (!migrate_file(sqlite, err) || !sqlite_schema_read(sqlite, &schema, err))
            return false;
    }
    if (options->any_schema)
        return true;
    snprintf(what, sizeof what, "sqlite: %s: the schema", sqlite->path);
    return checks_version(&schema, what, err);
}
