/*
 * scratch.c - folders under /dev/shm, or under the temporary folder where there is none.
 */
#include "store/sqlite/file/scratch.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "taskharbor-memory-"
#define USERS  "users"

static const char *parent_folder(void)
{
    const char *temporary = getenv("TMPDIR");

    if (access("/dev/shm", W_OK) == 0)
        return "/dev/shm";
    return temporary ? temporary : "/tmp";
}

/* Everybody may make a link or a folder of that name where ours lie; what is behind it is not ours
 * to use, and even less to delete. When it is not, errno says why. */
static bool is_ours(const char *folder)
{
    struct stat found;

    if (lstat(folder, &found) != 0)
        return false;
    errno = EPERM;
    return S_ISDIR(found.st_mode) && found.st_uid == geteuid();
}

/* Files only: nobody makes folders in there. `users` goes last: as long as it is there, whoever
 * comes waits for our lock, and does not start to use what we are about to delete. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (!text_equal(entry->d_name, USERS))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)unlinkat(dirfd(dir), USERS, 0);
    closedir(dir);
    (void)rmdir(folder);
}

static int open_users(const char *folder, int flags)
{
    AUTO_FREE char *path = NULL;

    if (asprintf(&path, "%s/" USERS, folder) < 0)
        return -1;
    return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

/* Removes the folder if nobody uses it. An empty one is of a user that is just entering, who will
 * then make it anew, or that was killed while it did. */
static void sweep_folder(const char *folder)
{
    AUTO_CLOSE int lock = is_ours(folder) ? open_users(folder, 0) : -1;

    if (lock < 0)
        (void)rmdir(folder);
    else if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        remove_folder(folder);
}

static void sweep(const char *parent)
{
    DIR *dir = opendir(parent);
    const struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL) {
        AUTO_FREE char *folder = NULL;
        if (text_starts_with(entry->d_name, PREFIX) &&
            asprintf(&folder, "%s/%s", parent, entry->d_name) >= 0)
            sweep_folder(folder);
    }
    closedir(dir);
}

/* Whether the locked file still is the one in the folder: the last user may have removed it
 * between our open and our lock. */
static bool is_current(const char *folder, int lock)
{
    struct stat ours, theirs;
    AUTO_CLOSE int fd = open_users(folder, 0);

    return fd >= 0 && fstat(lock, &ours) == 0 && fstat(fd, &theirs) == 0 &&
           ours.st_ino == theirs.st_ino;
}

static bool try_enter(struct sqlite_scratch *scratch, bool *entered_out, struct error *err)
{
    *entered_out = false;
    if (mkdir(scratch->folder, 0700) != 0 && errno != EEXIST)
        return error_errno(err, TH_E_UNAVAILABLE, errno, "memory: cannot make %s", scratch->folder);
    scratch->lock = is_ours(scratch->folder) ? open_users(scratch->folder, O_CREAT) : -1;
    if (scratch->lock < 0 && errno == ENOENT)
        return true; /* removed by its last user meanwhile */
    if (scratch->lock < 0)
        return error_errno(err, TH_E_UNAVAILABLE, errno, "memory: cannot use %s", scratch->folder);
    if (flock(scratch->lock, LOCK_SH) == 0 && is_current(scratch->folder, scratch->lock)) {
        *entered_out = true;
        return true;
    }
    close(scratch->lock);
    return true;
}

bool sqlite_scratch_enter(const char *name, struct sqlite_scratch *scratch_out, struct error *err)
{
    struct sqlite_scratch scratch = {0};
    const char *parent = parent_folder();
    bool entered = false;

    sweep(parent);
    if (asprintf(&scratch.folder, "%s/" PREFIX "%s", parent, name) < 0)
        return error_no_memory(err);
    while (!entered) {
        if (!try_enter(&scratch, &entered, err)) {
            free(scratch.folder);
            return false;
        }
    }
    *scratch_out = scratch;
    return true;
}

void sqlite_scratch_leave(struct sqlite_scratch *scratch)
{
    if (!scratch->folder)
        return;
    if (flock(scratch->lock, LOCK_EX | LOCK_NB) == 0)
        remove_folder(scratch->folder);
    close(scratch->lock);
    free(scratch->folder);
    scratch->folder = NULL;
}
