/*
 * neighbour.c - opens a file beside the database, with the database's permissions.
 */
#include "store/sqlite/neighbour.h"

#include "base/base.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_AND_WRITE 0666

static bool stat_database(const char *path, struct stat *found_out)
{
    AUTO_FREE char *database = NULL;
    int length = (int)strlen(path) - NEIGHBOUR_SUFFIX_LENGTH;

    return asprintf(&database, "%.*s", length, path) >= 0 && stat(database, found_out) == 0;
}

/* At each open and not only at the first: people change the permissions of the database, and do not
 * think of its neighbours. Best effort: only the owner and root can. */
static void follow_database(int fd, const char *path)
{
    struct stat database, ours;

    if (!stat_database(path, &database) || fstat(fd, &ours) != 0)
        return;
    if (geteuid() == 0 && (ours.st_uid != database.st_uid || ours.st_gid != database.st_gid))
        (void)!fchown(fd, database.st_uid, database.st_gid);
    if ((ours.st_mode & READ_AND_WRITE) != (database.st_mode & READ_AND_WRITE))
        (void)fchmod(fd, database.st_mode & READ_AND_WRITE);
}

int neighbour_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, READ_AND_WRITE);

    if (fd >= 0)
        follow_database(fd, path);
    return fd;
}
