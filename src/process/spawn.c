/*
 * spawn.c - starts a program: descriptors, signals, limits, user, death with the parent.
 *
 * The child shares our memory until it runs the program (CLONE_VM | CLONE_VFORK), so that starting
 * costs the same however large we are. We stand still meanwhile.
 *
 * Invariants:
 *   - Everything that needs memory is made before the clone. The child only makes system calls;
 *     it takes no lock and changes no variable but its own.
 *   - The child goes through `steps` in order. Rights are dropped before anything is touched in the
 *     user's name, and after all that needs them.
 *   - Ends of children are kept for us to see: SIGCHLD has its default action.
 *   - The step that failed and its errno come back through a pipe that closes on exec: a pipe that
 *     closes without a word is a program that runs.
 */
#include "process/spawn.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "process/account.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE         ((size_t)64 * 1024)
#define KERNEL_SIGSET_SIZE 8
#define FOLDERS_MAX        32

/* What the child needs, made before it exists. */
struct birth {
    const struct spawn *spawn;
    pid_t parent;
    char *stack; /* new for each child: the address sanitizer has to forget the last one's */
    int report;  /* the pipe's end; closes on exec */
    const char *files[FOLDERS_MAX + 1]; /* to try in order; ends in NULL */
};

/* What comes back through the pipe. */
struct report {
    int step;
    int number; /* errno */
};

/* Zeroes are SIG_DFL in any layout of the kernel's struct sigaction. glibc's own function refuses
 * the signals it keeps for itself. */
static bool default_signals(struct birth *birth)
{
    static const unsigned char action[64];

    (void)birth;
    for (int number = 1; number < NSIG; number++) {
        if (number == SIGKILL || number == SIGSTOP)
            continue;
        if (syscall(SYS_rt_sigaction, number, action, NULL, KERNEL_SIGSET_SIZE))
            return false;
    }
    return true;
}

static bool lead_session(struct birth *birth)
{
    (void)birth;
    return setsid() >= 0;
}

static bool move_up(int *fd)
{
    if (*fd < 0 || *fd >= SPAWN_FDS)
        return true;
    *fd = fcntl(*fd, F_DUPFD_CLOEXEC, SPAWN_FDS);
    return *fd >= 0;
}

/* All sources first go out of the way of all targets. */
static bool place_descriptors(struct birth *birth)
{
    int fds[SPAWN_FDS];

    if (!move_up(&birth->report))
        return false;
    for (int i = 0; i < SPAWN_FDS; i++) {
        fds[i] = birth->spawn->fds[i];
        if (!move_up(&fds[i]))
            return false;
    }
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (fds[i] < 0)
            syscall(SYS_close, i);
        else if (dup2(fds[i], i) < 0)
            return false;
    }
    return syscall(SYS_close_range, SPAWN_FDS, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0;
}

static bool set_umask(struct birth *birth)
{
    if (birth->spawn->umask != SPAWN_KEEP)
        umask((mode_t)birth->spawn->umask);
    return true;
}

static bool set_nice(struct birth *birth)
{
    return birth->spawn->nice == 0 || setpriority(PRIO_PROCESS, 0, birth->spawn->nice) == 0;
}

/* At most `soft`, and `hard` where it cannot be raised again. */
static bool limit(__rlimit_resource_t resource, uint64_t soft, uint64_t hard)
{
    struct rlimit now;

    if (soft == 0)
        return true;
    if (getrlimit(resource, &now))
        return false;
    if (now.rlim_max > hard)
        now.rlim_max = hard;
    now.rlim_cur = now.rlim_max < soft ? now.rlim_max : soft;
    return setrlimit(resource, &now) == 0;
}

static bool set_limits(struct birth *birth)
{
    const struct spawn_limits *limits = &birth->spawn->limits;
    const uint64_t seconds = (uint64_t)((limits->cpu + USEC_PER_SEC - 1) / USEC_PER_SEC);

    return limit(RLIMIT_AS, limits->memory, limits->memory) &&
           limit(RLIMIT_CPU, seconds, seconds + 1) &&
           limit(RLIMIT_NOFILE, limits->files, limits->files);
}

static bool is_root_again(const struct account *account)
{
    if (account->uid == 0)
        return false;
    return syscall(SYS_setresuid, -1, 0, -1) == 0 ||
           (account->gid != 0 && syscall(SYS_setresgid, -1, 0, -1) == 0);
}

/* Groups while we may still set them, then the group, then the user. Direct calls: glibc's would
 * look for threads to take along. */
static bool become_user(struct birth *birth)
{
    const struct account *account = birth->spawn->account;

    if (!account || account->is_self)
        return true;
    if (syscall(SYS_setgroups, account->group_count, account->groups) ||
        syscall(SYS_setresgid, account->gid, account->gid, account->gid) ||
        syscall(SYS_setresuid, account->uid, account->uid, account->uid))
        return false;
    if (is_root_again(account)) {
        errno = EPERM;
        return false;
    }
    return true;
}

static bool enter_folder(struct birth *birth)
{
    return !birth->spawn->cwd || chdir(birth->spawn->cwd) == 0;
}

static bool keep_privileges_down(struct birth *birth)
{
    return birth->spawn->may_gain_privileges || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* After the change of user, which takes it away. A parent that died before this is noticed by its
 * number. */
static bool die_with_parent(struct birth *birth)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
        return false;
    errno = ESRCH;
    return getppid() == birth->parent;
}

static bool empty_mask(struct birth *birth)
{
    static const unsigned char none[KERNEL_SIGSET_SIZE];

    (void)birth;
    return syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, KERNEL_SIGSET_SIZE) == 0;
}

/* As execvp() does: a file that we may not run is what counts, if no other is found. */
static bool run_program(struct birth *birth)
{
    const struct spawn *spawn = birth->spawn;
    int number = ENOENT;

    for (const char **file = birth->files; *file; file++) {
        execve(*file, (char *const *)spawn->argv, (char *const *)spawn->environment);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return false;
        if (errno == EACCES)
            number = EACCES;
    }
    errno = number;
    return false;
}

static const struct {
    const char *name;
    bool (*take)(struct birth *birth);
} steps[] = {
    {"reset signals", default_signals},
    {"lead a session", lead_session},
    {"place descriptors", place_descriptors},
    {"set the umask", set_umask},
    {"set nice", set_nice},
    {"set limits", set_limits},
    {"change to user", become_user},
    {"change to folder", enter_folder},
    {"give up new privileges", keep_privileges_down},
    {"tie to the parent", die_with_parent},
    {"empty the signal mask", empty_mask},
    {"exec", run_program},
};

/* The child. Returning ends it: a call of _exit() would let the address sanitizer look for the
 * bounds of this stack, which it does not know. */
static int be_born(void *context)
{
    struct birth *birth = context;
    struct report report = {0};

    while (report.step < (int)COUNT_OF(steps) && steps[report.step].take(birth))
        report.step++;
    report.number = errno;
    while (write(birth->report, &report, sizeof report) < 0 && errno == EINTR) {
    }
    return EXIT_FAILURE;
}

static bool list_folders(struct birth *birth, struct arena *arena, struct error *err)
{
    const char *name = birth->spawn->argv[0];
    size_t count = 0;

    for (const char *folder = birth->spawn->path; *folder != '\0';) {
        const size_t length = strcspn(folder, ":");
        const size_t size = length + strlen(name) + 2;
        char *file = arena_alloc(arena, size);

        if (!file)
            return error_no_memory(err);
        if (count == FOLDERS_MAX)
            return error_set(err, TH_E_INVALID, "PATH has more than %d folders", FOLDERS_MAX);
        snprintf(file, size, "%.*s/%s", (int)length, folder, name);
        if (length > 0)
            birth->files[count++] = file;
        folder += length + (folder[length] == ':');
    }
    return true;
}

static bool list_files(struct birth *birth, struct arena *arena, struct error *err)
{
    const char *name = birth->spawn->argv[0];

    if (birth->spawn->path && name[0] != '\0' && !strchr(name, '/'))
        return list_folders(birth, arena, err);
    birth->files[0] = name;
    return true;
}

/* With every signal blocked: one that came to the child would run a handler in our memory. */
static pid_t clone_blocked(struct birth *birth, int *pidfd_out)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = clone(be_born, birth->stack + STACK_SIZE,
                            CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, birth, pidfd_out);
    const int number = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return pid;
}

static bool say_what_failed(const struct spawn *spawn, const struct report *report,
                            struct error *err)
{
    const char *step = steps[report->step].name;
    bool (*const take)(struct birth *) = steps[report->step].take;

    if (take == run_program)
        return error_errno(err, TH_E_UNAVAILABLE, report->number, "exec %s", spawn->argv[0]);
    if (take == enter_folder)
        return error_errno(err, TH_E_UNAVAILABLE, report->number, "%s %s", step, spawn->cwd);
    if (take == become_user)
        return error_errno(err, TH_E_UNAVAILABLE, report->number, "%s %s", step,
                           spawn->account->name);
    return error_errno(err, TH_E_UNAVAILABLE, report->number, "%s", step);
}

/* True when the pipe closed without a word. */
static bool has_started(int fd, struct report *report_out)
{
    ssize_t count;

    do {
        count = read(fd, report_out, sizeof *report_out);
    } while (count < 0 && errno == EINTR);
    return count != (ssize_t)sizeof *report_out;
}

static bool give_birth(struct birth *birth, struct child *child_out, struct error *err)
{
    AUTO_CLOSE int told = -1;
    struct report report = {0};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "open a pipe");
    told = ends[0];
    birth->report = ends[1];
    child_out->pid = clone_blocked(birth, &child_out->pidfd);
    const int number = errno;
    close(ends[1]);
    if (child_out->pid < 0)
        return error_errno(err, TH_E_UNAVAILABLE, number, "start a process");
    if (has_started(told, &report))
        return true;
    close(child_out->pidfd);
    while (waitpid(child_out->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return say_what_failed(birth->spawn, &report, err);
}

/* A plugin may have asked the system not to keep the ends of children; or have a handler that waits
 * for whatever child it finds. */
static bool keep_ends(struct error *err)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};

    return sigaction(SIGCHLD, &action, NULL) == 0 ||
           error_errno(err, TH_E_INTERNAL, errno, "be told of the end of children");
}

bool spawn_start(const struct spawn *spawn, struct child *child_out, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct birth birth = {.spawn = spawn, .parent = getpid()};

    birth.stack = arena_alloc(&arena, STACK_SIZE);
    if (!birth.stack)
        return error_no_memory(err);
    if (!keep_ends(err) || !list_files(&birth, &arena, err))
        return false;
    if (give_birth(&birth, child_out, err))
        return true;
    *child_out = (struct child){.pidfd = -1};
    return false;
}
