/*
 * companions.c - SQLite's own files beside the database: PATH-wal and PATH-shm.
 */
#include "store/sqlite/file/companions.h"

#include "base/clock.h"
#include "store/sqlite/file/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool note(struct sqlite *sqlite, const char *suffix, struct sqlite_companion *companion_out,
                 struct error *err)
{
    struct stat found;

    if (asprintf(&companion_out->path, "%s%s", sqlite3_db_filename(sqlite->db, "main"), suffix) <
        0) {
        companion_out->path = NULL;
        return error_no_memory(err);
    }
    companion_out->is_known = stat(companion_out->path, &found) == 0;
    if (companion_out->is_known) {
        companion_out->device = found.st_dev;
        companion_out->inode = found.st_ino;
    }
    return true;
}

bool sqlite_companions_note(struct sqlite *sqlite, struct error *err)
{
    return note(sqlite, "-wal", &sqlite->companions.wal, err) &&
           note(sqlite, "-shm", &sqlite->companions.shm, err);
}

static bool is_in_place(const struct sqlite_companion *companion)
{
    struct stat found;

    return !companion->is_known ||
           (stat(companion->path, &found) == 0 && found.st_ino == companion->inode &&
            found.st_dev == companion->device);
}

bool sqlite_companions_check(struct sqlite *sqlite, struct error *err)
{
    const struct sqlite_companions *companions = &sqlite->companions;
    bool has_wal = is_in_place(&companions->wal);

    if (has_wal && is_in_place(&companions->shm))
        return true;
    return error_set(err, TH_E_UNAVAILABLE,
                     "sqlite: %s: was deleted while the database was in use, which can lose jobs: "
                     "leave the files beside a database alone; it has to be opened again",
                     has_wal ? companions->shm.path : companions->wal.path);
}

void sqlite_companions_save(struct sqlite *sqlite)
{
    const struct sqlite_companions *companions = &sqlite->companions;

    /* With another WAL in its place, or without the memory that all who write share, somebody may
     * have written what this handle knows nothing of. */
    if (access(companions->wal.path, F_OK) != 0 && is_in_place(&companions->shm))
        sqlite3_wal_checkpoint_v2(sqlite->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
}

/* First what can be done beside readers and writers, which is nearly all; what is left takes a
 * moment, and is done only if nobody writes or reads just now. */
static void cut(struct sqlite *sqlite)
{
    int frames = 0, moved = -1;
    struct error ignored;

    sqlite3_wal_checkpoint_v2(sqlite->db, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
    if (moved < frames || !sqlite_turnstile_enter(&sqlite->turnstile, clock_boot(), &ignored))
        return;
    sqlite3_wal_checkpoint_v2(sqlite->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite_turnstile_leave(&sqlite->turnstile);
}

void sqlite_companions_shrink(struct sqlite *sqlite)
{
    struct stat found;

    if (stat(sqlite->companions.wal.path, &found) != 0 || found.st_size <= COMPANIONS_WAL_MAX)
        return;
    sqlite3_busy_timeout(sqlite->db, 0);
    cut(sqlite);
    sqlite_restore_patience(sqlite);
}

void sqlite_companions_done(struct sqlite_companions *companions)
{
    free(companions->wal.path);
    free(companions->shm.path);
    *companions = (struct sqlite_companions){0};
}
