/*
 * neighbour.c - opens a file beside the database, or makes it with the database's permissions.
 */
#include "store/sqlite/file/neighbour.h"

#include "base/cleanup.h"
#include "store/sqlite/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define ATTEMPTS   8 /* others may make and delete it meanwhile */

mode_t sqlite_neighbour_mode(mode_t database)
{
    mode_t writers = database & (S_IWUSR | S_IWGRP | S_IWOTH);

    return writers | writers << 1; /* each writer a reader, nobody else */
}

static bool stat_database(const char *path, struct stat *found_out)
{
    AUTO_FREE char *database = NULL;
    int length = (int)strlen(path) - NEIGHBOUR_SUFFIX_LENGTH;

    return asprintf(&database, "%.*s", length, path) >= 0 && lstat(database, found_out) == 0;
}

/* Best effort: whoever does not own the database cannot give it away, and lets a group that is not
 * the database's in only if that is everybody's. Only for a file that we have just made. */
static void follow_database(int fd, const struct stat *database)
{
    mode_t mode = sqlite_neighbour_mode(database->st_mode);
    bool is_given = geteuid() != 0 ? fchown(fd, (uid_t)-1, database->st_gid) == 0
                                   : fchown(fd, database->st_uid, database->st_gid) == 0;

    (void)fchmod(fd, is_given ? mode : mode & ~(mode_t)(S_IRWXG));
}

static int make(const char *path, const struct stat *database)
{
    int fd = open(path, OPEN_FLAGS | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);

    if (fd >= 0)
        follow_database(fd, database);
    return fd;
}

static bool check(int fd, const char *path, const struct stat *database, struct error *err)
{
    struct stat found, folder;

    if (fstat(fd, &found) != 0 || !sqlite_file_stat_folder(path, &folder))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: look at %s", path);
    const char *fault = sqlite_file_fault(&found, database, &folder);
    return !fault || error_set(err, TH_E_UNAVAILABLE,
                               "sqlite: %s %s: it is not used; find out who made it, and remove it",
                               path, fault);
}

static bool cannot_open(const char *path, int reason, struct error *err)
{
    if (reason == ELOOP)
        return error_set(err, TH_E_UNAVAILABLE,
                         "sqlite: %s is a symbolic link: it is not used; find out who made it, and "
                         "remove it",
                         path);
    if (reason == EACCES)
        return error_set(err, TH_E_UNAVAILABLE,
                         "sqlite: cannot write %s: Permission denied: it needs the owner and the "
                         "permissions of the database",
                         path);
    return error_errno(err, TH_E_UNAVAILABLE, reason, "sqlite: cannot write %s", path);
}

bool sqlite_neighbour_open(const char *path, int *fd_out, struct error *err)
{
    struct stat database;
    int fd = -1;

    if (!stat_database(path, &database))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: the database of %s", path);
    for (int i = 0; i < ATTEMPTS; i++) {
        fd = open(path, OPEN_FLAGS);
        if (fd >= 0 && !check(fd, path, &database, err)) {
            close(fd);
            return false;
        }
        if (fd < 0 && errno == ENOENT)
            fd = make(path, &database);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    *fd_out = fd;
    return fd >= 0 || cannot_open(path, errno, err);
}
