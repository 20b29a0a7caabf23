/*
 * log_sink.c - stderr, written to without ever waiting for whoever reads it.
 *
 * O_NONBLOCK belongs to the open file, which we share with the shell that started us and with every
 * program that got our stderr: setting it would break theirs. So a pipe or a terminal is opened
 * once more through /proc, which gives an open file of our own.
 *
 * All processes of a pool write to one stderr. What goes into a pipe or a socket at once is whole
 * lines and at most PIPE_BUF bytes, so the kernel takes all of it or nothing.
 */
#include "base/log_sink.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A number of our own: a worker gives its plugins another stderr. */
static int duplicate(void)
{
    const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    return fd < 0 ? STDERR_FILENO : fd;
}

static void open_own(struct log_sink *sink)
{
    const int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    sink->kind = fd < 0 ? SINK_SHARED : SINK_OWN;
    sink->fd = fd < 0 ? duplicate() : fd;
}

static void open_shared(struct log_sink *sink, enum log_sink_kind kind)
{
    sink->kind = kind;
    sink->fd = duplicate();
}

void log_sink_open(struct log_sink *sink_out)
{
    struct stat status;

    *sink_out = (struct log_sink){.kind = SINK_NONE, .fd = STDERR_FILENO};
    signal(SIGPIPE, SIG_IGN);
    if (fstat(STDERR_FILENO, &status) != 0)
        return;
    sink_out->device = status.st_dev;
    sink_out->inode = status.st_ino;
    if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))
        open_own(sink_out);
    else
        open_shared(sink_out, S_ISSOCK(status.st_mode) ? SINK_SOCKET : SINK_FILE);
}

void log_sink_close(struct log_sink *sink)
{
    if (sink->kind != SINK_NONE && sink->fd != STDERR_FILENO && log_sink_is_intact(sink))
        close(sink->fd);
    *sink = (struct log_sink){.kind = SINK_NONE};
}

bool log_sink_is_intact(const struct log_sink *sink)
{
    struct stat status;

    return sink->kind == SINK_NONE ||
           (fstat(sink->fd, &status) == 0 && status.st_dev == sink->device &&
            status.st_ino == sink->inode);
}

static bool is_writable(int fd, int milliseconds)
{
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};

    return poll(&wanted, 1, milliseconds) > 0;
}

static ssize_t write_once(const struct log_sink *sink, const char *lines, size_t length)
{
    switch (sink->kind) {
    case SINK_NONE:
        return (ssize_t)length;
    case SINK_SHARED:
        if (!is_writable(sink->fd, 0)) {
            errno = EAGAIN;
            return -1;
        }
        return write(sink->fd, lines, length);
    case SINK_FILE:
    case SINK_OWN:
        return write(sink->fd, lines, length);
    case SINK_SOCKET:
        return send(sink->fd, lines, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return -1;
}

/* As many whole lines as go at once. No line is longer than PIPE_BUF. */
static size_t batch_length(const struct log_sink *sink, const char *lines, size_t length)
{
    if (sink->kind == SINK_FILE || length <= PIPE_BUF)
        return length;

    const char *last = memrchr(lines, '\n', PIPE_BUF);
    return last ? (size_t)(last - lines) + 1 : PIPE_BUF;
}

static bool may_pass(int number)
{
    return number == EAGAIN || number == ENOSPC || number == EDQUOT || number == ENOBUFS ||
           number == ENOMEM;
}

size_t log_sink_write(const struct log_sink *sink, const char *lines, size_t length)
{
    size_t done = 0;

    while (done < length) {
        const size_t batch = batch_length(sink, lines + done, length - done);
        const ssize_t count = write_once(sink, lines + done, batch);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count == 0 || may_pass(errno) ? done : length;
        done += (size_t)count;
    }
    return done;
}

void log_sink_wait(const struct log_sink *sink, usec_t patience)
{
    is_writable(sink->fd, clock_poll_timeout(patience));
}
