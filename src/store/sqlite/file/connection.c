/*
 * connection.c - opens the file, runs transactions, says what went wrong.
 *
 * Invariants:
 *   - Every write transaction holds the turnstile from before BEGIN until after COMMIT.
 *   - The bell is rung after COMMIT, and only when the transaction made a job ready, or room in a
 *     queue that somebody found full.
 *   - After sqlite_end() no transaction is open, whatever happened.
 */
#include "store/sqlite/file/connection.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/sqlite/file/file.h"
#include "store/sqlite/file/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sync_pragmas[] = {
    [SYNC_FULL] = "PRAGMA synchronous = FULL",
    [SYNC_NORMAL] = "PRAGMA synchronous = NORMAL",
    [SYNC_OFF] = "PRAGMA synchronous = OFF",
};

static enum th_error_code code_of(int status)
{
    switch (status & 0xff) {
    case SQLITE_NOMEM:
        return TH_E_NO_MEMORY;
    case SQLITE_ERROR:
    case SQLITE_INTERNAL:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return TH_E_INTERNAL;
    default:
        return TH_E_UNAVAILABLE;
    }
}

/* What to do about it, where SQLite's own words do not say. */
static const char *sentence_of(int status)
{
    switch (status & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program holds the database and does not let go";
    case SQLITE_FULL:
        return "the disk is full; nothing was changed";
    case SQLITE_NOTADB:
        return "this file is not a SQLite database";
    case SQLITE_CORRUPT:
        return "the database is damaged: restore it from a backup";
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "no permission to write the database or its folder";
    default:
        return NULL;
    }
}

/* Why the system refused. */
static const char *system_reason(const struct sqlite *sqlite, int status)
{
    int number = sqlite->db ? sqlite3_system_errno(sqlite->db) : 0;

    return number != 0 ? strerror(number) : sqlite3_errstr(status);
}

bool sqlite_error(struct sqlite *sqlite, int status, struct error *err)
{
    const char *sentence = sentence_of(status);
    int kind = status & 0xff;

    if (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR)
        return error_set(err, TH_E_UNAVAILABLE, "sqlite: %s: cannot be %s: %s", sqlite->path,
                         kind == SQLITE_CANTOPEN ? "opened" : "read or written",
                         system_reason(sqlite, status));
    return error_set(err, code_of(status), "sqlite: %s: %s", sqlite->path,
                     sentence ? sentence : sqlite3_errmsg(sqlite->db));
}

/* SQLite asks when it meets a lock of somebody who does not know our turnstile. */
static void set_busy_time(struct sqlite *sqlite, usec_t deadline)
{
    sqlite3_busy_timeout(sqlite->db, clock_poll_timeout(deadline - clock_boot()));
}

void sqlite_restore_patience(struct sqlite *sqlite)
{
    set_busy_time(sqlite, store_deadline(&sqlite->base));
}

bool sqlite_execute(struct sqlite *sqlite, const char *sql, struct error *err)
{
    int status = sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL);

    return status == SQLITE_OK || sqlite_error(sqlite, status, err);
}

static struct sqlite *new_sqlite(const char *path)
{
    struct sqlite *sqlite = calloc(1, sizeof *sqlite);

    if (!sqlite)
        return NULL;
    sqlite->turnstile.fd = sqlite->bell.ring_fd = sqlite->bell.listen_fd = -1;
    sqlite->statements = calloc(SQL_STATEMENTS, sizeof(sqlite3_stmt *));
    sqlite->path = strdup(path);
    if (!sqlite->statements || !sqlite->path) {
        sqlite_disconnect(sqlite);
        return NULL;
    }
    return sqlite;
}

static bool open_database(struct sqlite *sqlite, enum sqlite_sync sync, bool create,
                          struct error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    AUTO_FREE char *real = NULL;

    if (!sqlite_file_find(sqlite->path, create, &real, err))
        return false;
    int status = sqlite3_open_v2(real, &sqlite->db, flags, NULL);
    if (status != SQLITE_OK)
        return sqlite_error(sqlite, status, err);
    sqlite3_extended_result_codes(sqlite->db, 1);
    set_busy_time(sqlite, store_deadline(&sqlite->base));
    return sqlite_execute(sqlite, sync_pragmas[sync], err) &&
           sqlite_execute(sqlite, COMPANIONS_WAL_PRAGMA, err) &&
           sqlite_execute(sqlite, "PRAGMA temp_store = MEMORY", err);
}

/* Beside the file as SQLite found it, absolute and without symbolic links: both are opened later,
 * when the process may be in another folder, and whoever came by another name must meet us there.
 */
static bool name_neighbours(struct sqlite *sqlite, struct error *err)
{
    const char *file = sqlite3_db_filename(sqlite->db, "main");
    char *lock = NULL, *bell = NULL;

    if (asprintf(&lock, "%s-lock", file) < 0)
        return error_no_memory(err);
    sqlite->turnstile.path = lock;
    if (asprintf(&bell, "%s-bell", file) < 0)
        return error_no_memory(err);
    sqlite->bell.path = bell;
    return true;
}

bool sqlite_connect(const char *path, enum sqlite_sync sync, bool create,
                    struct sqlite **sqlite_out, struct error *err)
{
    struct sqlite *sqlite = new_sqlite(path);

    if (!sqlite)
        return error_no_memory(err);
    if (!open_database(sqlite, sync, create, err) || !name_neighbours(sqlite, err)) {
        sqlite_disconnect(sqlite);
        return false;
    }
    *sqlite_out = sqlite;
    return true;
}

void sqlite_disconnect(struct sqlite *sqlite)
{
    for (size_t i = 0; sqlite->statements && i < SQL_STATEMENTS; i++)
        sqlite3_finalize(sqlite->statements[i]);
    sqlite3_close(sqlite->db);
    sqlite_turnstile_done(&sqlite->turnstile);
    sqlite_companions_done(&sqlite->companions);
    sqlite_bell_done(&sqlite->bell);
    sqlite_queues_done(&sqlite->queues);
    sqlite_vacancies_done(&sqlite->vacancies);
    sqlite_tallies_done(&sqlite->tallies);
    free(sqlite->statements);
    free(sqlite->path);
    sqlite_scratch_leave(&sqlite->scratch);
    free(sqlite->base.name);
    free(sqlite);
}

static bool run_plain(struct sqlite *sqlite, enum sql_statement which, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    return sqlite_query_run(&query, err);
}

bool sqlite_begin_read(struct sqlite *sqlite, struct error *err)
{
    return run_plain(sqlite, SQL_BEGIN_READ, err);
}

/* The wait for our turn and the wait for SQLite's own lock share one deadline. */
static bool begin_before(struct sqlite *sqlite, usec_t deadline, struct error *err)
{
    set_busy_time(sqlite, deadline);
    bool begun = run_plain(sqlite, SQL_BEGIN_WRITE, err);
    sqlite_restore_patience(sqlite);
    return begun;
}

/* A file that was deleted or replaced still takes what we write, and nobody would find it there. */
static bool is_in_place(struct sqlite *sqlite, struct error *err)
{
    int moved = 0;

    sqlite3_file_control(sqlite->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return !moved || error_set(err, TH_E_UNAVAILABLE,
                               "sqlite: %s: was deleted or replaced while it was in use: it has to "
                               "be opened again",
                               sqlite->path);
}

static void undo(struct sqlite *sqlite)
{
    struct error ignored; /* the failure that brought us here is the one to report */

    /* SQLite has undone it already when the disk was full, for instance. */
    if (!sqlite3_get_autocommit(sqlite->db))
        (void)!run_plain(sqlite, SQL_ROLLBACK, &ignored);
    sqlite_queues_done(&sqlite->queues);
}

/* Nobody else writes while what can be saved is saved. */
static bool give_up(struct sqlite *sqlite, struct error *err)
{
    struct error ignored;

    undo(sqlite);
    if (!sqlite_companions_check(sqlite, &ignored))
        sqlite_companions_save(sqlite);
    return sqlite_end(sqlite, false, err);
}

bool sqlite_begin_write(struct sqlite *sqlite, struct error *err)
{
    usec_t deadline = store_deadline(&sqlite->base);

    if (!sqlite_turnstile_enter(&sqlite->turnstile, deadline, err))
        return false;
    if (!begin_before(sqlite, deadline, err)) {
        sqlite_turnstile_leave(&sqlite->turnstile);
        return false;
    }
    sqlite->writing = true;
    sqlite->ring = false;
    if (is_in_place(sqlite, err) && sqlite_companions_check(sqlite, err))
        return true;
    return give_up(sqlite, err);
}

bool sqlite_end(struct sqlite *sqlite, bool work, struct error *err)
{
    bool kept = work && sqlite_vacancy_announce(sqlite, err) && sqlite_tally_write(sqlite, err) &&
                run_plain(sqlite, SQL_COMMIT, err);

    if (!kept)
        undo(sqlite);
    if (!sqlite->writing)
        return kept;
    sqlite->writing = false;
    sqlite->vacancies.count = 0;
    sqlite->tallies.count = 0;
    sqlite_turnstile_leave(&sqlite->turnstile);
    if (kept && sqlite->ring)
        sqlite_bell_ring(&sqlite->bell);
    return kept;
}
