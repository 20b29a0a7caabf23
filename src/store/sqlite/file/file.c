/*
 * file.c - looks at names before they are opened, and makes new files for their owner alone.
 *
 * SQLite gets a name without links and is told to follow none, so that what was looked at is what
 * it opens. It follows none beside the database either; a second name of somebody else's file
 * (which Linux lets nobody make, unless fs.protected_hardlinks is off) is looked for here.
 */
#include "store/sqlite/file/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OTHERS_MAY_WRITE (S_IWGRP | S_IWOTH)

static const char *const suffixes[] = {"-journal", "-wal", "-shm", "-lock", "-bell"};

bool sqlite_file_stat_folder(const char *path, struct stat *folder_out)
{
    AUTO_FREE char *copy = strdup(path);

    return copy && stat(dirname(copy), folder_out) == 0;
}

/* Whoever may write the database may have been the first to use it, and have made its companions.
 */
static bool may_have_made(uid_t owner, const struct stat *database, const struct stat *folder)
{
    return owner == geteuid() || owner == 0 || owner == database->st_uid ||
           owner == folder->st_uid || (database->st_mode & OTHERS_MAY_WRITE) != 0;
}

const char *sqlite_file_fault(const struct stat *found, const struct stat *database,
                              const struct stat *folder)
{
    if (S_ISLNK(found->st_mode))
        return "is a symbolic link";
    if (!S_ISREG(found->st_mode))
        return "is no regular file";
    if (found->st_nlink > 1)
        return "has a second name, a hard link";
    if (!may_have_made(found->st_uid, database, folder))
        return "belongs to a user who may not write the database";
    return NULL;
}

static bool check_companions(const char *real, const struct stat *database, struct error *err)
{
    struct stat folder;

    if (!sqlite_file_stat_folder(real, &folder))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: the folder of %s", real);
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        AUTO_FREE char *path = NULL;
        struct stat found;

        if (asprintf(&path, "%s%s", real, suffixes[i]) < 0)
            return error_no_memory(err);
        const char *fault =
            lstat(path, &found) == 0 ? sqlite_file_fault(&found, database, &folder) : NULL;
        if (fault)
            return error_set(err, TH_E_UNAVAILABLE,
                             "sqlite: %s %s: it is not used; find out who made it, and remove it",
                             path, fault);
    }
    return true;
}

/* Whoever made a link says where it leads: a stranger's must lead to a file of their own. */
static bool check_link(const char *path, const struct stat *name, const struct stat *database,
                       struct error *err)
{
    if (!S_ISLNK(name->st_mode) || name->st_uid == geteuid() || name->st_uid == 0 ||
        name->st_uid == database->st_uid)
        return true;
    return error_set(err, TH_E_UNAVAILABLE,
                     "sqlite: %s is the symbolic link of one user to the file of another: name the "
                     "file itself, if it is the one you mean",
                     path);
}

static bool check_database(const char *path, const struct stat *database, struct error *err)
{
    if (!S_ISREG(database->st_mode))
        return error_set(err, TH_E_UNAVAILABLE, "sqlite: %s: cannot be opened: %s", path,
                         S_ISDIR(database->st_mode) ? strerror(EISDIR) : "It is no regular file");
    /* By the other name there would be another log and other locks: both would be damaged. */
    if (database->st_nlink > 1)
        return error_set(err, TH_E_UNAVAILABLE,
                         "sqlite: %s has a second name, a hard link: a database must have one",
                         path);
    return true;
}

static bool cannot_open(const char *path, int reason, struct error *err)
{
    return error_errno(err, TH_E_UNAVAILABLE, reason, "sqlite: %s: cannot be opened", path);
}

/* Somebody may make it in the same moment: that one is as good. */
static bool make(const char *path, struct error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);

    if (fd < 0 && errno != EEXIST)
        return cannot_open(path, errno, err);
    if (fd >= 0)
        close(fd);
    return true;
}

static bool look_at(const char *path, bool create, struct stat *name_out, struct error *err)
{
    if (lstat(path, name_out) == 0)
        return true;
    if (!create)
        return error_errno(err, TH_E_UNAVAILABLE, errno,
                           "sqlite: %s: no database here (the first enqueue or 'thctl migrate' "
                           "makes one)",
                           path);
    if (errno != ENOENT)
        return cannot_open(path, errno, err);
    return make(path, err) && (lstat(path, name_out) == 0 || cannot_open(path, errno, err));
}

bool sqlite_file_find(const char *path, bool create, char **real_out, struct error *err)
{
    struct stat name, database;

    if (!look_at(path, create, &name, err))
        return false;
    AUTO_FREE char *real = realpath(path, NULL);
    if (!real && errno == ENOENT && S_ISLNK(name.st_mode))
        return error_set(err, TH_E_UNAVAILABLE,
                         "sqlite: %s: is a link to a file that is not there: make an empty one, or "
                         "name it without the link",
                         path);
    if (!real || lstat(real, &database) != 0)
        return cannot_open(path, errno, err);
    if (!check_database(path, &database, err) || !check_link(path, &name, &database, err) ||
        !check_companions(real, &database, err))
        return false;
    *real_out = real;
    real = NULL;
    return true;
}

void sqlite_file_tell_folder(const char *real, char text[STORE_DURABILITY_SIZE])
{
    struct stat folder;

    text[0] = '\0';
    if (!sqlite_file_stat_folder(real, &folder) || (folder.st_mode & S_IWOTH) == 0 ||
        (folder.st_mode & S_ISVTX) != 0)
        return;
    snprintf(text, STORE_DURABILITY_SIZE,
             "everybody may write the folder of %s, and put another file in its place: chmod o-w",
             real);
}
