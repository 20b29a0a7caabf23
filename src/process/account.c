/*
 * account.c - whom a program runs as: what the system knows of a user.
 */
#include "process/account.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENTRY_SIZE 16384
#define GROUPS_MAX 1024

static void take_entry(const struct passwd *entry, struct arena *arena, struct account *account_out)
{
    account_out->name = arena_text(arena, entry->pw_name);
    account_out->home = arena_text(arena, entry->pw_dir);
    account_out->uid = entry->pw_uid;
    account_out->gid = entry->pw_gid;
}

static bool list_groups(struct arena *arena, struct account *account, struct error *err)
{
    gid_t *groups = arena_alloc(arena, GROUPS_MAX * sizeof *groups);
    int count = GROUPS_MAX;

    if (!groups)
        return error_no_memory(err);
    if (getgrouplist(account->name, account->gid, groups, &count) < 0)
        return error_set(err, TH_E_UNAVAILABLE, "user %s is in more than %d groups", account->name,
                         GROUPS_MAX);
    account->groups = groups;
    account->group_count = (size_t)count;
    return true;
}

/* A container may run as a number that no file knows. */
static bool find_self(struct arena *arena, char *text, struct account *account_out,
                      struct error *err)
{
    struct passwd entry, *found = NULL;

    *account_out = (struct account){.name = "nobody", .home = "/", .is_self = true};
    if (getpwuid_r(geteuid(), &entry, text, ENTRY_SIZE, &found) == 0 && found)
        take_entry(found, arena, account_out);
    account_out->uid = geteuid();
    account_out->gid = getegid();
    return !arena->failed || error_no_memory(err);
}

bool account_find(const char *name, struct arena *arena, struct account *account_out,
                  struct error *err)
{
    AUTO_FREE char *text = malloc(ENTRY_SIZE);
    struct passwd entry, *found = NULL;

    if (!text)
        return error_no_memory(err);
    if (!name)
        return find_self(arena, text, account_out, err);

    const int failed = getpwnam_r(name, &entry, text, ENTRY_SIZE, &found);
    if (failed)
        return error_errno(err, TH_E_UNAVAILABLE, failed, "look up user %s", name);
    if (!found)
        return error_set(err, TH_E_INVALID, "there is no user %s", name);
    *account_out = (struct account){0};
    take_entry(found, arena, account_out);
    /* Without root we cannot become anybody else, and we are ourselves already. */
    account_out->is_self = geteuid() != 0 && account_out->uid == geteuid();
    if (arena->failed)
        return error_no_memory(err);
    return list_groups(arena, account_out, err);
}

static int become(const struct account *account)
{
    if (account->is_self)
        return 0;
    if (setgroups(account->group_count, account->groups) ||
        setresgid(account->gid, account->gid, account->gid) ||
        setresuid(account->uid, account->uid, account->uid))
        return errno;
    return 0;
}

/* An errno fits into an exit code. */
int account_try(const struct account *account, int (*attempt)(const char *path), const char *path)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid < 0)
        return errno;
    if (pid == 0) {
        const int number = become(account);

        _exit(number != 0 ? number : attempt(path));
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return errno;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}
