/*
 * file.h - the database's own file: which one it is, who may have put it there, who may read it.
 *
 * The folder may be somebody else's: root enqueues into the database of a service user, whose jobs
 * can make any link there. So nothing is opened through a link that leads to another user's file,
 * nothing that has a second name, and nothing but regular files; that goes for what SQLite opens
 * beside the database, too. What we make is for its owner alone.
 */
#ifndef SQLITE_FILE_H
#define SQLITE_FILE_H

#include "base/base.h"
#include "base/error.h"
#include "store/store.h"

#include <sys/stat.h>

/* The database at `path`, made if it is not there and `create`; its name without links in
 * `real_out`, the caller's. */
bool sqlite_file_find(const char *path, bool create, char **real_out, struct error *err) MUST_CHECK;

/* What is wrong with a file that lies beside the database, or NULL. */
const char *sqlite_file_fault(const struct stat *found, const struct stat *database,
                              const struct stat *folder);

/* The folder of a file. */
bool sqlite_file_stat_folder(const char *path, struct stat *folder_out);

/* A sentence if everybody may write the folder of the database, "" else. */
void sqlite_file_tell_folder(const char *real, char text[STORE_DURABILITY_SIZE]);

#endif
