/*
 * io.c - reading and writing all of it.
 *
 * A signal or a short count never shows outside: both loops go on where they were.
 */
#include "base/io.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK       ((size_t)64 * 1024)
#define NOT_REGULAR (-1) /* among values of errno */

static ssize_t read_some(int fd, void *data, size_t length)
{
    ssize_t count;

    do {
        count = read(fd, data, length);
    } while (count < 0 && errno == EINTR);
    return count;
}

/* A buffer that is full to its limit may hold exactly the whole file: one more byte tells. */
static bool expect_end(int fd, const char *name, const struct buffer *buffer, struct error *err)
{
    char beyond;
    const ssize_t count = read_some(fd, &beyond, 1);

    if (count < 0)
        return error_errno(err, TH_E_INVALID, errno, "read %s", name);
    if (count > 0)
        return error_set(err, TH_E_INVALID, "%s is larger than %zu bytes", name, buffer->limit);
    return true;
}

bool io_read_all(int fd, const char *name, struct buffer *buffer, struct error *err)
{
    while (buffer->length < buffer->limit) {
        const size_t room = buffer->limit - buffer->length;
        const size_t wanted = room < CHUNK ? room : CHUNK;
        char *data = buffer_reserve(buffer, wanted);

        if (!data)
            return !buffer_ok(buffer, err) && error_prefix(err, "read %s", name);
        const ssize_t count = read_some(fd, data, wanted);
        if (count < 0)
            return error_errno(err, TH_E_INVALID, errno, "read %s", name);
        if (count == 0)
            return true;
        buffer->length += (size_t)count;
    }
    return expect_end(fd, name, buffer, err);
}

bool io_read_file(const char *path, struct buffer *buffer, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return error_errno(err, TH_E_INVALID, errno, "open %s", path);
    return io_read_all(fd, path, buffer, err);
}

static int why_not_regular(const struct stat *status)
{
    if (S_ISDIR(status->st_mode))
        return EISDIR;
    return S_ISREG(status->st_mode) ? 0 : NOT_REGULAR;
}

/* 0, or what is wrong. Looked at before it is opened, since opening alone has effects on devices,
 * and again afterwards: it may have been replaced meanwhile. */
static int open_regular(const char *path, int *fd_out)
{
    struct stat status;
    int problem = stat(path, &status) ? errno : why_not_regular(&status);

    *fd_out = problem ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (problem)
        return problem;
    if (*fd_out < 0)
        return errno;
    return fstat(*fd_out, &status) ? errno : why_not_regular(&status);
}

bool io_open_regular(const char *path, int *fd_out, struct error *err)
{
    const int problem = open_regular(path, fd_out);

    if (problem == 0)
        return true;
    if (*fd_out >= 0)
        close(*fd_out);
    *fd_out = -1;
    if (problem == NOT_REGULAR)
        return error_set(err, TH_E_INVALID, "cannot be opened: it is not a regular file");
    return error_errno(err, TH_E_INVALID, problem, "cannot be opened");
}

bool io_read_regular(const char *path, struct buffer *buffer, struct error *err)
{
    AUTO_CLOSE int fd = -1;

    if (!io_open_regular(path, &fd, err))
        return error_prefix(err, "%s", path);
    return io_read_all(fd, path, buffer, err);
}

bool io_write_all(int fd, const void *data, size_t length, struct error *err)
{
    const char *rest = data;

    while (length > 0) {
        const ssize_t count = write(fd, rest, length);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_errno(err, TH_E_UNAVAILABLE, errno, "write");
        rest += count;
        length -= (size_t)count;
    }
    return true;
}
