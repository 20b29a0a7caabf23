/*
 * connection.h - one open database file: statements, transactions, errors.
 *
 * Files beside PATH: PATH-wal and PATH-shm are SQLite's, PATH-lock is the turnstile that makes
 * writers take turns, PATH-bell is written after every commit that made a job ready or a queue
 * open.
 */
#ifndef SQLITE_CONNECTION_H
#define SQLITE_CONNECTION_H

#include "base/base.h"
#include "base/error.h"
#include "store/driver.h"
#include "store/sqlite/file/bell.h"
#include "store/sqlite/file/companions.h"
#include "store/sqlite/file/scratch.h"
#include "store/sqlite/file/turnstile.h"
#include "store/sqlite/parts/queues.h"
#include "store/sqlite/parts/tally.h"
#include "store/sqlite/parts/vacancy.h"

#include <sqlite3.h>

enum sqlite_sync {
    SYNC_FULL,   /* what is answered survives a power cut */
    SYNC_NORMAL, /* what is answered survives a crash of the program */
    SYNC_OFF,    /* for files that end with the process */
};

struct sqlite {
    struct store base; /* first */
    char *path;        /* owned */
    sqlite3 *db;
    sqlite3_stmt **statements; /* owned; by enum sql_statement, NULL until first used */
    struct sqlite_turnstile turnstile;
    struct sqlite_companions companions;
    struct sqlite_bell bell;
    struct sqlite_queues queues;
    bool writing; /* in a write transaction, with the turnstile ours */
    bool ring;    /* it makes something reservable that somebody may wait for */
    struct sqlite_vacancies vacancies;
    struct sqlite_tallies tallies;
    struct sqlite_scratch scratch; /* the folder of a store that ends with its last user */
};

/* `create`: the file may be missing. */
bool sqlite_connect(const char *path, enum sqlite_sync sync, bool create,
                    struct sqlite **sqlite_out, struct error *err) MUST_CHECK;
void sqlite_disconnect(struct sqlite *sqlite);

/* "sqlite: PATH: what SQLite says", with the code that fits. Returns false. */
bool sqlite_error(struct sqlite *sqlite, int status, struct error *err);

/* After a wait of another length was set: how long SQLite waits for somebody else's lock. */
void sqlite_restore_patience(struct sqlite *sqlite);

/* A statement without parameters or rows that is used rarely. */
bool sqlite_execute(struct sqlite *sqlite, const char *sql, struct error *err) MUST_CHECK;

/* A consistent view for several reads. */
bool sqlite_begin_read(struct sqlite *sqlite, struct error *err) MUST_CHECK;

/* The only writer, in turn, within the deadline. */
bool sqlite_begin_write(struct sqlite *sqlite, struct error *err) MUST_CHECK;

/* Commits when `work` is true and answers whether that worked; undoes everything otherwise. Either
 * way the transaction is over: `return sqlite_end(sqlite, do_work(...), err);` */
bool sqlite_end(struct sqlite *sqlite, bool work, struct error *err) MUST_CHECK;

#endif
