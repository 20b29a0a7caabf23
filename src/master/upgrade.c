/*
 * upgrade.c - USR2: a new thd beside this one, which takes its place.
 */
#include "master/upgrade.h"

#include "base/error.h"
#include "base/log.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "config/config.h"
#include "master/clearing.h"
#include "master/listeners.h"
#include "master/shutdown.h"
#include "master/this_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE   "TH_UPGRADE_READY_FD"
#define CANNOT_RUN 126 /* as shells have it */
#define LAST_WORDS USEC_PER_SEC

/* ---- in the new thd ---- */

static bool is_pipe(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

bool upgrade_init(struct upgrade *upgrade, struct this_pool *pool, struct clearing *clearing,
                  struct shutdown *shutdown, struct error *err)
{
    const char *text = getenv(VARIABLE);
    int64_t fd;

    upgrade->pool = pool;
    upgrade->clearing = clearing;
    upgrade->shutdown = shutdown;
    if (!text)
        return true;
    if (!text_to_int(text, LISTENERS_FIRST, INT_MAX, &fd) || !is_pipe((int)fd))
        return error_set(err, TH_E_INVALID, VARIABLE " names no pipe: it is for thd alone");
    upgrade->announce = (int)fd;
    if (fcntl((int)fd, F_SETFD, FD_CLOEXEC))
        return error_errno(err, TH_E_INTERNAL, errno, "keep descriptor %d from others", (int)fd);
    return unsetenv(VARIABLE) == 0 || error_errno(err, TH_E_INTERNAL, errno, "forget " VARIABLE);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void upgrade_done(struct upgrade *upgrade)
{
    close_end(&upgrade->ready);
    close_end(&upgrade->announce);
}

/* The thd that waits for it may be gone: then there is nobody to replace. */
void upgrade_announce(struct upgrade *upgrade)
{
    if (upgrade->announce < 0)
        return;
    listeners_own(upgrade->pool->options->listeners);
    if (write(upgrade->announce, "", 1) < 0)
        log_warning("upgrade_rejected", "error=%s", "the thd that started this one is gone");
    close_end(&upgrade->announce);
}

/* ---- in the child that becomes it ---- */

/* What goes along: the sockets of the doors, and the pipe after them. */
struct luggage {
    int fds[LISTENERS_MAX + 1];
    size_t count;
};

static bool pack(const struct this_pool *pool, int announce, struct luggage *luggage,
                 struct error *err)
{
    char number[16];

    if (!listeners_pass(pool->options->listeners, luggage->fds, &luggage->count, err))
        return false;
    snprintf(number, sizeof number, "%d", LISTENERS_FIRST + (int)luggage->count);
    luggage->fds[luggage->count++] = announce;
    return setenv(VARIABLE, number, 1) == 0 ||
           error_errno(err, TH_E_INTERNAL, errno, "set " VARIABLE);
}

/* From LISTENERS_FIRST on, and nothing after them. Some may be in another's place: so all are taken
 * out of the way first. */
static bool keep(struct luggage *luggage, struct error *err)
{
    const int end = LISTENERS_FIRST + (int)luggage->count;

    for (size_t i = 0; i < luggage->count; i++) {
        luggage->fds[i] = fcntl(luggage->fds[i], F_DUPFD, end);
        if (luggage->fds[i] < 0)
            return error_errno(err, TH_E_INTERNAL, errno, "pass a descriptor on");
    }
    for (size_t i = 0; i < luggage->count; i++) {
        if (dup2(luggage->fds[i], LISTENERS_FIRST + (int)i) < 0)
            return error_errno(err, TH_E_INTERNAL, errno, "pass a descriptor on");
    }
    return close_range((unsigned)end, ~0U, 0) == 0 ||
           error_errno(err, TH_E_INTERNAL, errno, "close the master's descriptors");
}

/* As whoever started us left them. */
static bool restore(const struct this_pool *pool, struct error *err)
{
    sigset_t none;

    sigemptyset(&none);
    if (signal(SIGPIPE, SIG_DFL) == SIG_ERR || signal(SIGXFSZ, SIG_DFL) == SIG_ERR ||
        sigprocmask(SIG_SETMASK, &none, NULL))
        return error_errno(err, TH_E_INTERNAL, errno, "restore the signals");
    if (setrlimit(RLIMIT_NOFILE, &pool->files))
        return error_errno(err, TH_E_INTERNAL, errno, "restore the limit of descriptors");
    return notify_restore(&pool->notify, err);
}

/* Returns only when it fails. */
static bool become(const struct this_pool *pool, int announce, struct error *err)
{
    const struct invocation *invocation = &pool->options->invocation;
    char **arguments = invocation_arguments(invocation, pool->options->backend);
    struct luggage luggage;

    if (!arguments)
        return error_no_memory(err);
    if (!pack(pool, announce, &luggage, err) || !keep(&luggage, err) || !restore(pool, err))
        return false;
    execv(invocation->path, arguments);
    return error_errno(err, TH_E_INTERNAL, errno, "exec %s", invocation->path);
}

static _Noreturn void live(struct this_pool *pool, int announce)
{
    struct error err;

    loop_close(&pool->loop); /* what is the child's of it; the master's own is not touched */
    become(pool, announce, &err);
    this_pool_open_log(pool, "master"); /* the one that we had was closed */
    log_error("process_failed", "name=%s error=%s", "new thd", err.text);
    log_close(LAST_WORDS);
    _exit(CANNOT_RUN);
}

/* ---- in the master ---- */

static bool is_running_beside(const struct upgrade *upgrade)
{
    return upgrade->pid != 0;
}

bool upgrade_is_under_way(const struct upgrade *upgrade)
{
    return is_running_beside(upgrade) && upgrade->ready >= 0;
}

static void stop_listening(struct upgrade *upgrade)
{
    loop_unwatch(upgrade->pool->loop, &upgrade->watch);
    close_end(&upgrade->ready);
}

/* From here on systemd listens to the new one: what we say of our end is not that of the service.
 */
static void give_way(struct upgrade *upgrade)
{
    struct this_pool *pool = upgrade->pool;

    stop_listening(upgrade);
    log_info("upgrade_ready", "pid=%d", (int)upgrade->pid);
    notify_send(&pool->notify, "MAINPID=%d", (int)upgrade->pid);
    notify_close(&pool->notify);
    listeners_disown(pool->options->listeners);
    listeners_close(pool->options->listeners);
    if (pool->state <= POOL_RUNNING)
        shutdown_ask(upgrade->shutdown, "upgrade");
    shutdown_end_doors(upgrade->shutdown);
}

/* One that closes its end without a word ends, or is not thd. */
static void hear(void *context, unsigned events)
{
    struct upgrade *upgrade = context;
    char word;

    (void)events;
    const ssize_t length = read(upgrade->ready, &word, sizeof word);
    if (length > 0)
        give_way(upgrade);
    else if (length == 0)
        upgrade_call_off(upgrade);
}

static bool may_upgrade(const struct upgrade *upgrade, struct error *err)
{
    const struct this_pool *pool = upgrade->pool;
    const struct invocation *invocation = &pool->options->invocation;

    if (pool->state != POOL_RUNNING)
        return error_set(err, TH_E_INVALID, "this pool is %s", pool_state_name(pool->state));
    if (pool->is_paused)
        return error_set(err, TH_E_INVALID, "this pool is paused, and a new one would not be");
    if (is_running_beside(upgrade))
        return error_set(err, TH_E_INVALID, "a new thd has been started already");
    if (pool->options->backend_is_private)
        return error_set(err, TH_E_INVALID, "the jobs are in memory, and end with this thd");
    if (!invocation->path)
        return error_set(err, TH_E_INVALID, "thd was started as '%s', and is not there",
                         invocation->argv[0]);
    return true;
}

static bool start(struct upgrade *upgrade, struct error *err)
{
    struct this_pool *pool = upgrade->pool;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, TH_E_INTERNAL, errno, "open a pipe");
    upgrade->ready = ends[0];
    upgrade->watch = (struct loop_watch){.fd = ends[0], .call = hear, .context = upgrade};
    upgrade->pid = fork();
    if (upgrade->pid == 0)
        live(pool, ends[1]);
    close(ends[1]);
    if (upgrade->pid < 0) {
        upgrade->pid = 0;
        return error_errno(err, TH_E_INTERNAL, errno, "fork");
    }
    clearing_spare(upgrade->clearing, upgrade->pid);
    log_info("upgrade_started", "pid=%d program=%s", (int)upgrade->pid,
             pool->options->invocation.path);
    return loop_watch(pool->loop, &upgrade->watch, LOOP_READ, err);
}

void upgrade_ask(struct upgrade *upgrade)
{
    struct error err;

    if (!may_upgrade(upgrade, &err)) {
        log_error("upgrade_rejected", "error=%s", err.text);
        return;
    }
    if (start(upgrade, &err))
        return;
    log_error("upgrade_rejected", "error=%s", err.text);
    upgrade_call_off(upgrade); /* nobody would hear it */
    if (!is_running_beside(upgrade))
        close_end(&upgrade->ready);
}

void upgrade_call_off(struct upgrade *upgrade)
{
    if (!upgrade_is_under_way(upgrade))
        return;
    kill(upgrade->pid, SIGTERM);
    loop_unwatch(upgrade->pool->loop, &upgrade->watch);
}

static void log_failure(pid_t pid, int status)
{
    const char *error = "the new thd ended before it was ready: this one goes on";
    char name[SIGNAL_NAME_SIZE];

    if (WIFSIGNALED(status))
        log_error("upgrade_rejected", "pid=%d signal=%s error=%s", (int)pid,
                  signal_name(WTERMSIG(status), name), error);
    else
        log_error("upgrade_rejected", "pid=%d exit_code=%d error=%s", (int)pid, WEXITSTATUS(status),
                  error);
}

void upgrade_note_end(struct upgrade *upgrade, pid_t pid, int status)
{
    if (pid != upgrade->pid)
        return;
    if (upgrade_is_under_way(upgrade))
        log_failure(pid, status);
    else
        log_error("process_exited", "name=%s pid=%d", "new thd", (int)pid);
    stop_listening(upgrade);
    upgrade->pid = 0;
    clearing_begin(upgrade->clearing); /* what it left behind is ours now */
}
