/*
 * orphans.c - what a program left behind when it ended.
 */
#include "process/orphans.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_MAX ((size_t)1 << 20)

static usec_t usec_of(struct timeval time)
{
    return (usec_t)time.tv_sec * USEC_PER_SEC + time.tv_usec;
}

void usage_add(struct usage *usage, const struct rusage *more)
{
    usage->user += usec_of(more->ru_utime);
    usage->system += usec_of(more->ru_stime);
    if (usage->max_rss_kb < more->ru_maxrss)
        usage->max_rss_kb = more->ru_maxrss;
}

bool orphans_adopt(struct error *err)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "adopt orphans");
    return true;
}

static bool is_childless(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static bool is_spared(pid_t pid, const pid_t *spared, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (spared[i] == pid)
            return true;
    }
    return false;
}

static bool read_children(struct buffer *list, struct error *err)
{
    if (io_read_file("/proc/thread-self/children", list, err))
        return true;
    err->code = TH_E_INTERNAL;
    return false;
}

/* The next number of a list with spaces between; false at its end. */
static bool next_child(char **list, pid_t *pid_out)
{
    char *word = *list;
    int64_t pid;

    if (!word || *word == '\0')
        return false;
    *list += strcspn(word, " ");
    if (**list == ' ')
        *(*list)++ = '\0';
    if (!text_to_int(word, 1, INT_MAX, &pid))
        return false;
    *pid_out = (pid_t)pid;
    return true;
}

static size_t count_words(const char *list)
{
    size_t count = 0;

    for (list += strspn(list, " "); *list != '\0'; list += strspn(list, " ")) {
        list += strcspn(list, " ");
        count++;
    }
    return count;
}

bool orphans_list(pid_t **pids_out, size_t *count_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer list = BUFFER(LIST_MAX);

    if (!read_children(&list, err))
        return false;
    pid_t *pids = calloc(count_words(buffer_str(&list)) + 1, sizeof *pids);
    size_t count = 0;
    if (!pids)
        return error_no_memory(err);
    for (char *rest = list.data; next_child(&rest, &pids[count]);)
        count++;
    *pids_out = pids;
    *count_out = count;
    return true;
}

/* Whether it was there to be killed. */
static bool kill_one(pid_t pid, struct usage *usage)
{
    struct rusage used;
    int status;

    const bool may_not = kill(pid, SIGKILL) && errno == EPERM;

    if (wait4(pid, &status, WNOHANG, &used) == pid)
        usage_add(usage, &used);
    return !may_not;
}

bool orphans_kill(const pid_t *spared, size_t spared_count, struct usage *usage, bool *left_out,
                  struct error *err)
{
    CLEANUP(buffer_done) struct buffer list = BUFFER(LIST_MAX);
    pid_t pid;

    *left_out = false;
    if (is_childless())
        return true;
    if (!read_children(&list, err))
        return false;
    for (char *rest = list.data; next_child(&rest, &pid);) {
        if (!is_spared(pid, spared, spared_count))
            *left_out |= kill_one(pid, usage);
    }
    /* The kernel may leave out some of a list that changes while it is read. */
    *left_out |= list.length == 0;
    return true;
}

static bool is_alive(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

bool orphans_live_in(pid_t group, bool *live_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer list = BUFFER(LIST_MAX);
    pid_t pid;

    *live_out = false;
    if (!read_children(&list, err))
        return false;
    for (char *rest = list.data; next_child(&rest, &pid);)
        *live_out |= pid != group && getpgid(pid) == group && is_alive(pid);
    return true;
}
