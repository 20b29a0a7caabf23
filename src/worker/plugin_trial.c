/*
 * plugin_trial.c - loads a plugin in a child process, to see whether a worker could.
 *
 * Whatever the plugin does while it is loaded, it does to the child. The child's answer is one
 * message in a pipe: a mark, followed by what is wrong. No answer is an answer, too.
 */
#include "worker/plugin_trial.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/signal_name.h"
#include "worker/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 10 /* seconds */
#define GOOD     '+'
#define BAD      '-'

static bool is_granted(const struct plugin_wish *wish, struct error *err)
{
    const struct th_plugin *plugin;

    if (!plugin_load(wish->path, &plugin, err))
        return false;
    if (wish->type && !plugin_find(plugin, wish->type))
        return error_set(err, TH_E_INVALID, "%s: has no handler for type '%s'", wish->path,
                         wish->type);
    if (wish->middleware && !plugin->middleware)
        return error_set(err, TH_E_INVALID, "%s: has no middleware", wish->path);
    return true;
}

static _Noreturn void try(const struct plugin_wish *wish, int answer)
{
    struct error err = {0};

    signal(SIGALRM, SIG_DFL);
    alarm(PATIENCE);
    const char mark = is_granted(wish, &err) ? GOOD : BAD;
    const size_t length = strlen(err.text);
    char text[ERROR_TEXT_SIZE + 1];

    text[0] = mark;
    memcpy(text + 1, err.text, length);
    _exit(write(answer, text, length + 1) < 0);
}

static bool explain_end(const struct plugin_wish *wish, int status, struct error *err)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    char name[SIGNAL_NAME_SIZE];

    if (number == SIGALRM)
        return error_set(err, TH_E_INVALID, "%s: was not loaded within %d seconds", wish->path,
                         PATIENCE);
    if (number != 0)
        return error_set(err, TH_E_INVALID, "%s: killed by %s while it was loaded", wish->path,
                         signal_name(number, name));
    return error_set(err, TH_E_INVALID, "%s: exit(%d) called while it was loaded", wish->path,
                     WEXITSTATUS(status));
}

/* What came, and how the child ended. */
static ssize_t hear(int answer, pid_t pid, char *text, size_t size, int *status_out)
{
    ssize_t length;

    do {
        length = read(answer, text, size);
    } while (length < 0 && errno == EINTR);
    while (waitpid(pid, status_out, 0) < 0 && errno == EINTR)
        continue;
    return length;
}

bool plugin_trial(const struct plugin_wish *wish, struct error *err)
{
    char text[ERROR_TEXT_SIZE + 1] = {0};
    int ends[2], status = 0;

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, TH_E_INTERNAL, errno, "open a pipe");
    AUTO_CLOSE int answer = ends[0];
    const pid_t pid = fork();
    if (pid == 0)
        try(wish, ends[1]);
    close(ends[1]);
    if (pid < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "fork");

    const ssize_t length = hear(answer, pid, text, sizeof text - 1, &status);
    if (length <= 0)
        return explain_end(wish, status, err);
    return text[0] == GOOD || error_set(err, TH_E_INVALID, "%s", text + 1);
}
