/*
 * companions.h - SQLite's own files beside the database: PATH-wal and PATH-shm.
 *
 * SQLite keeps them open, and would go on writing into one that somebody has deleted: what is
 * committed there nobody else ever sees. So every write looks first whether they are still those
 * that this handle has open. And after somebody read for long the WAL is as large as all that was
 * written meanwhile; it is cut when nobody needs it.
 */
#ifndef SQLITE_COMPANIONS_H
#define SQLITE_COMPANIONS_H

#include "base/base.h"
#include "base/error.h"

#include <sys/types.h>

struct sqlite;

/* What a WAL may keep of its size when it begins anew, in bytes: also in the pragma below. */
#define COMPANIONS_WAL_MAX    ((int64_t)16 << 20)
#define COMPANIONS_WAL_PRAGMA "PRAGMA journal_size_limit = 16777216"

struct sqlite_companion {
    char *path; /* owned */
    bool is_known;
    dev_t device;
    ino_t inode;
};

struct sqlite_companions {
    struct sqlite_companion wal, shm;
};

/* When SQLite has opened them, which it does for the first read. */
bool sqlite_companions_note(struct sqlite *sqlite, struct error *err) MUST_CHECK;

/* In a write transaction: TH_E_UNAVAILABLE when one of them has gone. Then sqlite_companions_save()
 * is due, after that transaction. */
bool sqlite_companions_check(struct sqlite *sqlite, struct error *err) MUST_CHECK;

/* Brings what the deleted WAL holds into the database, if nobody has begun another one; and keeps
 * this handle from tidying up when it is closed, which would concern the files of others. */
void sqlite_companions_save(struct sqlite *sqlite);

/* Cuts a WAL that has grown large, if that is possible without waiting for anybody. */
void sqlite_companions_shrink(struct sqlite *sqlite);

void sqlite_companions_done(struct sqlite_companions *companions);

#endif
