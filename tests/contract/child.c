/*
 * child.c - what every process that a case forks has in common.
 */
#include "child.h"

#include "base/cleanup.h"
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* On a busy machine a server may take longer to let everybody in than one call waits. */
#define OPENINGS 5

pid_t child_fork(void)
{
    pid_t parent = getpid();

    scene_drop_handle();
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    return 0;
}

void child_must(bool done, const struct error *err)
{
    if (done)
        return;
    fprintf(stderr, "process %d of the case: %s (%s)\n", (int)getpid(), err->text,
            error_code_name(err->code));
    _exit(EXIT_FAILURE);
}

struct store *child_open(const char *url)
{
    const struct store_options options = {.migrate = true, .batch_min = scene_backend()->batch_min};
    struct store *store = NULL;
    struct error err = {0};
    bool opened = false;

    for (int i = 0; i < OPENINGS && !opened; i++) {
        opened = store_open(url, &options, &store, &err);
        if (!opened && err.code != TH_E_UNAVAILABLE)
            break;
    }
    child_must(opened, &err);
    return store;
}

static char read_byte(int fd)
{
    char byte = 0;
    ssize_t got;

    do
        got = read(fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1 ? byte : 0;
}

/* Says that it is there, then waits for the other end to be closed. */
static void keep(const char *url, int fd)
{
    struct store *store = child_open(url);

    if (write(fd, "k", 1) == 1)
        read_byte(fd);
    store_close(&store);
    _exit(EXIT_SUCCESS);
}

struct keeper keeper_start(const char *url)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    struct keeper keeper = {.pid = child_fork(), .fd = ends[0]};
    if (keeper.pid == 0) {
        close(ends[0]);
        keep(url, ends[1]);
    }
    close(ends[1]);
    if (keeper.pid < 0 || read_byte(keeper.fd) != 'k')
        abort(); /* it has said why */
    return keeper;
}

void keeper_end(struct keeper *keeper)
{
    if (keeper->pid == 0)
        return;
    close(keeper->fd);
    waitpid(keeper->pid, NULL, 0);
    *keeper = (struct keeper){0};
}
