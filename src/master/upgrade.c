/*
 * upgrade.c - USR2: a new thd beside this one, which takes its place.
 */
#include "master/upgrade.h"

#include "base/error.h"
#include "base/log.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "config/config.h"
#include "master/master.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE   "TH_UPGRADE_READY_FD"
#define READY_FD   3 /* in the new thd */
#define READY_TEXT "3"
#define CANNOT_RUN 126 /* as shells have it */
#define LAST_WORDS USEC_PER_SEC

/* ---- in the new thd ---- */

static bool is_pipe(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

bool upgrade_init(struct master *master, struct error *err)
{
    const char *text = getenv(VARIABLE);
    int64_t fd;

    if (!text)
        return true;
    if (!text_to_int(text, READY_FD, INT_MAX, &fd) || !is_pipe((int)fd))
        return error_set(err, TH_E_INVALID, VARIABLE " names no pipe: it is for thd alone");
    master->upgrade.announce = (int)fd;
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
void upgrade_announce(struct master *master)
{
    if (master->upgrade.announce < 0)
        return;
    if (write(master->upgrade.announce, "", 1) < 0)
        log_warning("upgrade_rejected", "error=%s", "the thd that started this one is gone");
    close_end(&master->upgrade.announce);
}

/* ---- in the child that becomes it ---- */

/* It has 0, 1, 2 and the pipe. */
static bool keep_pipe(int announce, struct error *err)
{
    if (announce != READY_FD && dup2(announce, READY_FD) < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "pass the pipe on");
    if (fcntl(READY_FD, F_SETFD, 0) || close_range(READY_FD + 1, ~0U, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "close the master's descriptors");
    return true;
}

/* As whoever started us left them. */
static bool restore(const struct master *master, struct error *err)
{
    sigset_t none;

    sigemptyset(&none);
    if (signal(SIGPIPE, SIG_DFL) == SIG_ERR || signal(SIGXFSZ, SIG_DFL) == SIG_ERR ||
        sigprocmask(SIG_SETMASK, &none, NULL))
        return error_errno(err, TH_E_INTERNAL, errno, "restore the signals");
    if (setrlimit(RLIMIT_NOFILE, &master->files))
        return error_errno(err, TH_E_INTERNAL, errno, "restore the limit of descriptors");
    if (setenv(VARIABLE, READY_TEXT, 1))
        return error_errno(err, TH_E_INTERNAL, errno, "set " VARIABLE);
    return notify_restore(&master->notify, err);
}

/* Returns only when it fails. */
static bool become(const struct master *master, int announce, struct error *err)
{
    const struct invocation *invocation = &master->options->invocation;
    char **arguments = invocation_arguments(invocation, master->options->backend);

    if (!arguments)
        return error_no_memory(err);
    if (!keep_pipe(announce, err) || !restore(master, err))
        return false;
    execv(invocation->path, arguments);
    return error_errno(err, TH_E_INTERNAL, errno, "exec %s", invocation->path);
}

static _Noreturn void live(struct master *master, int announce)
{
    const struct log_options options = {
        .level = master->config->log.level,
        .format = master->config->log.format,
        .pool = master->name.shown,
    };
    struct error err;

    loop_close(&master->loop); /* what is the child's of it; the master's own is not touched */
    become(master, announce, &err);
    log_open(&options); /* the master's was closed */
    log_error("process_failed", "name=%s error=%s", "new thd", err.text);
    log_close(LAST_WORDS);
    _exit(CANNOT_RUN);
}

/* ---- in the master ---- */

static bool is_running_beside(const struct master *master)
{
    return master->upgrade.pid != 0;
}

bool upgrade_is_under_way(const struct master *master)
{
    return is_running_beside(master) && master->upgrade.ready >= 0;
}

static void stop_listening(struct master *master)
{
    loop_unwatch(master->loop, &master->upgrade.watch);
    close_end(&master->upgrade.ready);
}

/* From here on systemd listens to the new one: what we say of our end is not that of the service.
 */
static void give_way(struct master *master)
{
    stop_listening(master);
    log_info("upgrade_ready", "pid=%d", (int)master->upgrade.pid);
    notify_send(&master->notify, "MAINPID=%d", (int)master->upgrade.pid);
    notify_close(&master->notify);
    if (master->state <= POOL_RUNNING)
        shutdown_ask(master, "upgrade");
}

/* One that closes its end without a word ends, or is no thd. */
static void hear(void *context, unsigned events)
{
    struct master *master = context;
    char word;

    (void)events;
    const ssize_t length = read(master->upgrade.ready, &word, sizeof word);
    if (length > 0)
        give_way(master);
    else if (length == 0)
        upgrade_call_off(master);
}

static bool may_upgrade(const struct master *master, struct error *err)
{
    const struct invocation *invocation = &master->options->invocation;

    if (master->state != POOL_RUNNING)
        return error_set(err, TH_E_INVALID, "this pool is %s", pool_state_name(master->state));
    if (master->is_paused)
        return error_set(err, TH_E_INVALID, "this pool is paused, and a new one would not be");
    if (is_running_beside(master))
        return error_set(err, TH_E_INVALID, "a new thd has been started already");
    if (master->options->backend_is_private)
        return error_set(err, TH_E_INVALID, "the jobs are in memory, and end with this thd");
    if (!invocation->path)
        return error_set(err, TH_E_INVALID, "thd was started as '%s', and is not there",
                         invocation->argv[0]);
    return true;
}

static bool start(struct master *master, struct error *err)
{
    struct upgrade *upgrade = &master->upgrade;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, TH_E_INTERNAL, errno, "open a pipe");
    upgrade->ready = ends[0];
    upgrade->watch = (struct loop_watch){.fd = ends[0], .call = hear, .context = master};
    upgrade->pid = fork();
    if (upgrade->pid == 0)
        live(master, ends[1]);
    close(ends[1]);
    if (upgrade->pid < 0) {
        upgrade->pid = 0;
        return error_errno(err, TH_E_INTERNAL, errno, "fork");
    }
    log_info("upgrade_started", "pid=%d program=%s", (int)upgrade->pid,
             master->options->invocation.path);
    return loop_watch(master->loop, &upgrade->watch, LOOP_READ, err);
}

void upgrade_ask(struct master *master)
{
    struct error err;

    if (!may_upgrade(master, &err)) {
        log_error("upgrade_rejected", "error=%s", err.text);
        return;
    }
    if (start(master, &err))
        return;
    log_error("upgrade_rejected", "error=%s", err.text);
    upgrade_call_off(master); /* nobody would hear it */
    if (!is_running_beside(master))
        close_end(&master->upgrade.ready);
}

void upgrade_call_off(struct master *master)
{
    if (!upgrade_is_under_way(master))
        return;
    kill(master->upgrade.pid, SIGTERM);
    loop_unwatch(master->loop, &master->upgrade.watch);
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

bool upgrade_note_end(struct master *master, pid_t pid, int status)
{
    if (pid != master->upgrade.pid)
        return false;
    if (upgrade_is_under_way(master))
        log_failure(pid, status);
    else
        log_error("process_exited", "name=%s pid=%d", "new thd", (int)pid);
    stop_listening(master);
    master->upgrade.pid = 0;
    clearing_begin(master); /* what it left behind is ours now */
    return true;
}
